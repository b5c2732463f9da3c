// Deletes objects, or marks them when finalizers hold them.
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { badRequestError, conflictError, forbiddenError, notFoundError } from '../api-error.ts';
import type { ObjectRequest, Resource } from '../resource.ts';
import {
  allObjects,
  timestamp,
  type WriteContext,
  isDryRun,
  optionsOf,
  propagationPolicyOf,
} from './context.ts';
import { namespaceKind } from '../kinds/plain-kinds.ts';
import { reviewedWrite, withoutEmpty } from './admit.ts';

export interface Deleted {
  readonly object: KubeObject;
  /** False when the object is only marked and finalizers hold it. */
  readonly isGone: boolean;
}

const maxTries = 5;

/** `name` names an object of a collection, which the request does not name. */
export async function deleteObject(
  context: WriteContext,
  request: ObjectRequest,
  name = request.name ?? '',
): Promise<Deleted> {
  const { resource, namespace } = request;
  const options = deleteOptions(request);
  for (let tries = 1; ; tries += 1) {
    const stored = context.store.get(resource, namespace, name);
    if (stored === undefined) throw notFoundError(resource, name);
    checkDeletable(resource, name);
    checkPreconditions(resource, options, stored);
    const write = reviewedWrite(request, { object: undefined, stored, options });
    await context.admission.mutate(write);
    await context.admission.validate(write);
    const deleted = take(context, request, stored);
    if (deleted !== undefined) {
      if (propagationPolicyOf(request) === 'Orphan' && !isDryRun(request)) orphan(context, stored);
      return deleted;
    }
    if (tries === maxTries) throw conflictError(resource, name, 'it is changed again and again');
  }
}

/** Returns true when an object is marked for deletion and no finalizer holds it. */
export function isFinished({ metadata, spec }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && !isHeld({ metadata, spec });
}

function isHeld({ metadata, spec }: KubeObject): boolean {
  // The finalizers in `spec` exist for Namespaces only:
  // https://kubernetes.io/docs/tasks/administer-cluster/namespaces/#deleting-a-namespace
  return [metadata['finalizers'], ownMember(spec, 'finalizers')].some(
    (finalizers) => Array.isArray(finalizers) && finalizers.length > 0,
  );
}

/** Returns undefined when another write came first. */
function take({ store, now }: WriteContext, request: ObjectRequest, stored: KubeObject): Deleted | undefined {
  const { resource } = request;
  const marked = markedObject(resource, stored, now());
  if (!isHeld(marked)) {
    const object = isDryRun(request) ? stored : store.remove(resource, stored);
    return object && { object, isGone: true };
  }
  if (stored.metadata.deletionTimestamp !== undefined) return { object: stored, isGone: false };
  const object = isDryRun(request) ? marked : store.put(resource, marked, stored);
  return object && { object, isGone: false };
}

/** https://kubernetes.io/docs/concepts/architecture/garbage-collection/#orphaned-dependents */
function orphan(context: WriteContext, { metadata: { uid } }: KubeObject): void {
  for (const [kind, object] of allObjects(context)) {
    const { ownerReferences: owners = [] } = object.metadata;
    const ownerReferences = owners.filter((owner) => owner.uid !== uid);
    if (ownerReferences.length === owners.length) continue;
    const freed = withoutEmpty({ ...object, metadata: { ...object.metadata, ownerReferences } });
    context.store.put(kind, freed, object);
  }
}

/**
 * The objects of a definition are deleted first:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#finalizers
 */
const definitionFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

function markedObject({ plural }: Resource, stored: KubeObject, now: Date): KubeObject {
  const { generation, finalizers } = stored.metadata;
  const metadata = {
    ...stored.metadata,
    ...(typeof generation === 'number' ? { generation: generation + 1 } : {}),
    ...(plural === 'customresourcedefinitions' && finalizers === undefined
      ? { finalizers: [definitionFinalizer] }
      : {}),
    deletionTimestamp: timestamp(now),
    deletionGracePeriodSeconds: 0,
  };
  if (plural !== 'namespaces') return { ...stored, metadata };
  const status = isJsonObject(stored['status']) ? stored['status'] : {};
  return { ...stored, metadata, status: { ...status, phase: 'Terminating' } };
}

function deleteOptions(request: ObjectRequest): JsonObject {
  const { body } = request;
  if (body !== undefined && !isJsonObject(body))
    throw badRequestError('the body of a DELETE is DeleteOptions');
  return { ...body, ...optionsOf(request, 'DeleteOptions') };
}

function checkPreconditions(resource: Resource, options: JsonObject, { metadata }: KubeObject): void {
  for (const [key, word] of Object.entries({ uid: 'UID', resourceVersion: 'ResourceVersion' })) {
    const wanted = ownMember(options['preconditions'], key) ?? metadata[key];
    if (wanted === metadata[key]) continue;
    const found = `${word} in object meta: ${String(metadata[key])}`;
    const why = `Precondition failed: ${word} in precondition: ${JSON.stringify(wanted)}, ${found}`;
    throw conflictError(resource, metadata.name ?? '', why);
  }
}

/** https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle */
const immortal = ['default', 'kube-system', 'kube-public'];

function checkDeletable(resource: Resource, name: string): void {
  if (resource === namespaceKind && immortal.includes(name)) {
    throw forbiddenError(resource, name, 'this namespace may not be deleted');
  }
}
