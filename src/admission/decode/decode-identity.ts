// Finds the name and namespace of a review, and refuses a request whose parts disagree about them.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { ReviewTarget } from './decode-target.ts';
import {
  invalidReview,
  decoded,
  notDecoded,
  wrongType,
  type Decoding,
  type ReviewProblem,
  isAbsent,
} from './review-problem.ts';

interface Identity {
  readonly name: string;
  readonly namespace: string;
}

export interface ReviewedObjects {
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject;
}

export function decodeIdentity(
  request: JsonObject,
  target: ReviewTarget,
  objects: ReviewedObjects,
): Decoding<Identity> {
  const texts = namesOf(request);
  if (!texts.ok) return texts;
  const all = [objects.object, objects.oldObject].filter((object) => object !== undefined);
  const names = all.map((object) => object.metadata.name ?? '');
  // Only an object that is being created may lack a name: `generateName` sets it later.
  if (target.operation !== 'CREATE' && names.includes('')) {
    return notDecoded(invalidReview('request', 'metadata.name of the object is missing'));
  }
  // A deletecollection request has no name; only its object has one.
  const name = agreed([texts.value.name, ...names]);
  if (name === undefined) return notDecoded(mismatch('name', 'metadata.name'));
  const { namespace } = texts.value;
  switch (target.resource) {
    case 'namespaces':
      return namespaceIdentity(namespace, name);
    case 'namespacepolicies':
    case 'secretshares':
    case 'securityintents':
    case 'clustersecurityintentbindings':
      return clusterIdentity(namespace, name, all);
    default:
      return namespacedIdentity(namespace, name, all);
  }
}

/**
 * In a request for a Namespace, the API server sets its name as the namespace too.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/create.go
 */
function namespaceIdentity(namespace: string, name: string): Decoding<Identity> {
  if (agreed([namespace, name]) === undefined) return notDecoded(mismatch('namespace', 'metadata.name'));
  return decoded({ name, namespace: name });
}

function clusterIdentity(
  namespace: string,
  name: string,
  objects: readonly KubeObject[],
): Decoding<Identity> {
  const isPlaced = namespace !== '' || objects.some(({ metadata }) => (metadata.namespace ?? '') !== '');
  if (isPlaced)
    return notDecoded(
      invalidReview('request.namespace', 'must be empty, because the kind is cluster-scoped'),
    );
  return decoded({ name, namespace: '' });
}

function namespacedIdentity(
  namespace: string,
  name: string,
  objects: readonly KubeObject[],
): Decoding<Identity> {
  const found = agreed([namespace, ...objects.map((object) => object.metadata.namespace ?? '')]);
  if (found === undefined) return notDecoded(mismatch('namespace', 'metadata.namespace'));
  if (found === '')
    return notDecoded(invalidReview('request.namespace', 'must be the namespace of the object'));
  return decoded({ name, namespace: found });
}

function namesOf(request: JsonObject): Decoding<Identity> {
  const { name, namespace } = request;
  if (!isText(name)) return notDecoded(wrongType('request.name', name, 'a text'));
  if (!isText(namespace)) return notDecoded(wrongType('request.namespace', namespace, 'a text'));
  return decoded({ name: name ?? '', namespace: namespace ?? '' });
}

function isText(value: unknown): value is string | undefined | null {
  return isAbsent(value) || typeof value === 'string';
}

/** Returns the one text that all non-empty texts equal; "" when all are empty; undefined when they differ. */
function agreed(texts: readonly string[]): string | undefined {
  const said = texts.filter((text) => text !== '');
  const [first = ''] = said;
  return said.every((text) => text === first) ? first : undefined;
}

function mismatch(field: string, other: string): ReviewProblem {
  return invalidReview(`request.${field}`, `must be the same as ${other} of every object`);
}

/** Sets the namespace of the request on an object without one, because the API server stores it there. */
export function placedIn(object: KubeObject, namespace: string): KubeObject {
  if (object.metadata.namespace !== undefined && object.metadata.namespace !== '') return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}
