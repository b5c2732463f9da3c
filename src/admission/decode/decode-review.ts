// Decodes the bytes of a body into a review for the engine, or into the problem with it.
import { type JsonObject, isJsonObject } from '../../base/json.ts';
import { isProviderResource, requestAttributes, type AnyReview } from '../../policy/terms/review.ts';
import type { Requester } from '../../rules/rule.ts';
import { decodeEnvelope, summaryOf, type RequestSummary } from './decode-envelope.ts';
import {
  decodeTarget,
  type UnjudgedTarget,
  type ReviewTarget,
  decoded,
  notDecoded,
  wrongType,
  type Decoding,
  type ReviewProblem,
  isAbsent,
  forbiddenReview,
  isStrings,
  invalidReview,
} from './decode-target.ts';
import type { HttpRefusal } from '../http/limits.ts';
import type { Endpoint } from '../ports.ts';
import { decodeObject } from './decode-object.ts';
import type { KubeObject } from '../../base/metadata.ts';

export type DecodedReview =
  | { readonly kind: 'review'; readonly summary: RequestSummary; readonly review: AnyReview }
  /** Needs no decision, so it is allowed. */
  | { readonly kind: 'passed'; readonly summary: RequestSummary }
  | { readonly kind: 'malformed'; readonly summary: RequestSummary; readonly problem: ReviewProblem }
  | { readonly kind: 'unreadable'; readonly refusal: HttpRefusal };

export function decodeReview(body: Buffer, endpoint: Endpoint): DecodedReview {
  const envelope = decodeEnvelope(body);
  switch (envelope.kind) {
    case 'unreadable':
      return envelope;
    case 'oversized':
      return { kind: 'malformed', summary: summaryOf(envelope.uid, {}), problem: envelope.problem };
    case 'request':
      return decodeRequest(envelope.uid, envelope.request, endpoint);
    default:
      return envelope satisfies never;
  }
}

function decodeRequest(uid: string, request: JsonObject, endpoint: Endpoint): DecodedReview {
  const summary = summaryOf(uid, request);
  const target = decodeTarget(request);
  if (!target.ok) return { kind: 'malformed', summary, problem: target.problem };
  if ('isUnjudged' in target.value) return decodeUnjudged(summary, target.value, endpoint);
  const review = decodeJudged(uid, request, target.value, endpoint);
  if (!review.ok) return { kind: 'malformed', summary, problem: review.problem };
  return review.value === undefined
    ? { kind: 'passed', summary }
    : { kind: 'review', summary, review: review.value };
}

/** The validating webhook refuses requests it cannot judge. The mutating webhook leaves that to it. */
function decodeUnjudged(
  summary: RequestSummary,
  { problem }: UnjudgedTarget,
  endpoint: Endpoint,
): DecodedReview {
  return endpoint === 'validate' ? { kind: 'malformed', summary, problem } : { kind: 'passed', summary };
}

/** Undefined when the request needs no decision. */
function decodeJudged(
  uid: string,
  request: JsonObject,
  target: ReviewTarget,
  endpoint: Endpoint,
): Decoding<AnyReview | undefined> {
  const requester = decodeRequester(request['userInfo']);
  if (!requester.ok) return requester;
  const dryRun = request['dryRun'] ?? false;
  if (typeof dryRun !== 'boolean') return notDecoded(wrongType('request.dryRun', dryRun, 'true or false'));
  // The webhook never sets a field on providers.
  if (endpoint === 'mutate' && isProviderResource(target.resource)) return decoded(undefined);
  // A patch on DELETE is an error of the hook, which refuses even where its failurePolicy is Ignore.
  // https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go
  if (endpoint === 'mutate' && target.operation === 'DELETE') return decoded(undefined);
  const objects = decodeObjects(request, target);
  if (!objects.ok) return objects;
  const identity = decodeIdentity(request, target, objects.value);
  if (!identity.ok) return identity;
  return decoded({
    uid,
    resource: target.resource,
    subresource: target.subresource,
    operation: target.operation,
    ...identity.value,
    requester: requester.value,
    dryRun,
    ...placedObjects(objects.value, target, identity.value.namespace),
    attributes: attributesOf(request, dryRun),
  });
}

/** Does not read the object that the operation does not use, such as the old object of a CREATE. */
function decodeObjects(request: JsonObject, target: ReviewTarget): Decoding<ReviewedObjects> {
  const object =
    target.operation === 'DELETE' ? none : decodeObject(request['object'], target, 'request.object');
  if (!object.ok) return object;
  const oldObject =
    target.operation === 'CREATE' ? none : decodeObject(request['oldObject'], target, 'request.oldObject');
  if (!oldObject.ok) return oldObject;
  return decoded({
    ...(object.value === undefined ? {} : { object: object.value }),
    ...(oldObject.value === undefined ? {} : { oldObject: oldObject.value }),
  });
}

const none = decoded(undefined);

function placedObjects(objects: ReviewedObjects, target: ReviewTarget, namespace: string): ReviewedObjects {
  if (namespace === '' || target.resource === 'namespaces') return objects;
  return {
    ...(objects.object === undefined ? {} : { object: placedIn(objects.object, namespace) }),
    ...(objects.oldObject === undefined ? {} : { oldObject: placedIn(objects.oldObject, namespace) }),
  };
}

/** Returns the attributes unchanged, without nulls. `dryRun` is always set, because the API server always sends it. */
function attributesOf(request: JsonObject, dryRun: boolean): Readonly<Record<string, unknown>> {
  const attributes: Record<string, unknown> = { dryRun };
  for (const name of requestAttributes) {
    if (!isAbsent(request[name])) attributes[name] = request[name];
  }
  return attributes;
}

/** Reads the user. A request without a user is refused, because no rights could be checked. */
function decodeRequester(userInfo: unknown): Decoding<Requester> {
  if (!isJsonObject(userInfo)) return unknownUser('', 'must be an object');
  const { username, groups, uid, extra } = userInfo;
  if (typeof username !== 'string' || username === '')
    return unknownUser('.username', 'must be a text that is not empty');
  if (!isAbsent(groups) && !isStrings(groups)) return unknownUser('.groups', 'must be a list of texts');
  if (!isAbsent(uid) && typeof uid !== 'string') return unknownUser('.uid', 'must be a text');
  const extras = decodeExtra(extra);
  if (extras === undefined) return unknownUser('.extra', 'must be a map of lists of texts');
  return decoded({
    username,
    groups: groups ?? [],
    ...(isAbsent(uid) ? {} : { uid }),
    extra: extras,
  });
}

function unknownUser(field: string, text: string): Decoding<Requester> {
  return notDecoded(forbiddenReview(`request.userInfo${field}`, text));
}

function decodeExtra(extra: unknown): Requester['extra'] {
  if (isAbsent(extra)) return {};
  if (!isJsonObject(extra)) return undefined;
  const entries = Object.entries(extra).map(([key, value]) => [key, value ?? []] as const);
  // Object.fromEntries makes every key an own member, `__proto__` too.
  return entries.every(isExtraEntry) ? Object.fromEntries(entries) : undefined;
}

function isExtraEntry(entry: readonly [string, unknown]): entry is readonly [string, readonly string[]] {
  return isStrings(entry[1]);
}

// Finds the name and namespace of a review, and refuses a request whose parts disagree about them.

interface Identity {
  readonly name: string;
  readonly namespace: string;
}

interface ReviewedObjects {
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject;
}

function decodeIdentity(
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
    case 'configmapshares':
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
function placedIn(object: KubeObject, namespace: string): KubeObject {
  if (object.metadata.namespace !== undefined && object.metadata.namespace !== '') return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}
