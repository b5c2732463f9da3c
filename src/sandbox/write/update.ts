// Updates objects, or one part of an object through a subresource.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/metadata.ts';
import { badRequestError, conflictError, invalidError, notFoundError } from '../api-error.ts';
import type { ObjectRequest, Resource } from '../resource.ts';
import { type WriteContext, isDryRun, optionsOf, submittedObject } from './context.ts';
import { isFinished } from './delete.ts';
import { admitObject } from './admit.ts';

/** An update without a resourceVersion is tried again when another write came first. */
const maxTries = 5;
const modified =
  'the object has been modified; please apply your changes to the latest version and try again';

/**
 * Groups whose objects can be replaced only with a resourceVersion.
 * https://pkg.go.dev/k8s.io/apiserver/pkg/registry/rest#RESTUpdateStrategy (AllowUnconditionalUpdate)
 */
const groupsThatWantVersions = [
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
  'reeve.dev',
];

export async function updateObject(context: WriteContext, request: ObjectRequest): Promise<KubeObject> {
  const submitted = submittedObject(request);
  const { resource, name = '' } = request;
  if (submitted.metadata.name !== undefined && submitted.metadata.name !== name) {
    throw badRequestError(
      `the name of the object (${submitted.metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  const { resourceVersion } = submitted.metadata;
  if (resourceVersion === undefined && groupsThatWantVersions.includes(resource.group)) {
    const message = 'Invalid value: 0: must be specified for an update';
    const cause = { reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' };
    throw invalidError(resource, name, [cause]);
  }
  const object = { ...submitted, metadata: { ...submitted.metadata, name } };
  return await changeObject(context, request, () => object);
}

/**
 * `next` returns the new object for the stored one and may throw an ApiError. Called again when another write came
 * first.
 */
export async function changeObject(
  context: WriteContext,
  request: ObjectRequest,
  next: (stored: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const { resource, namespace, name = '', patchType } = request;
  for (let tries = 1; ; tries += 1) {
    const stored = context.store.get(resource, namespace, name);
    if (stored === undefined) throw notFoundError(resource, name);
    const object = next(stored);
    checkPreconditions(resource, object, stored);
    const options = optionsOf(request, 'UpdateOptions');
    const settledObject = await admitObject(context, request, { object, stored, options });
    const written = keep(context, request, settledObject, stored);
    if (written !== undefined) return written;
    if (tries === maxTries || isTiedToVersion(object, stored, patchType)) {
      throw conflictError(resource, name, modified);
    }
  }
}

/** A patch without a resourceVersion leaves the stored one in the object. */
function isTiedToVersion(object: KubeObject, stored: KubeObject, patchType: string | undefined): boolean {
  return patchType === undefined
    ? object.metadata['resourceVersion'] !== undefined
    : object.metadata['resourceVersion'] !== stored.metadata['resourceVersion'];
}

function checkPreconditions(resource: Resource, object: KubeObject, stored: KubeObject): void {
  const name = stored.metadata.name ?? '';
  const { uid, resourceVersion } = object.metadata;
  if (uid !== undefined && uid !== stored.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.metadata.uid}`;
    throw conflictError(resource, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== stored.metadata['resourceVersion']) {
    throw conflictError(resource, name, modified);
  }
}

/** Returns undefined when another write came first. An object without changes is not written. */
function keep(
  { store }: WriteContext,
  request: ObjectRequest,
  object: KubeObject,
  stored: KubeObject,
): KubeObject | undefined {
  if (isDryRun(request)) return object;
  if (isDeepStrictEqual(object, stored)) return stored;
  if (isFinished(object)) return store.remove(request.resource, stored) && object;
  return store.put(request.resource, object, stored);
}
