// Patches and applies objects.
import { isJsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { ApiError, badRequestError, conflictError, invalidError } from '../api-error.ts';
import { applied } from '../patch/managed-fields.ts';
import { jsonPatched } from '../patch/json-patch.ts';
import { mergePatched } from '../patch/merge-patch.ts';
import type { ObjectRequest } from '../resource.ts';
import { type WriteContext, submittedObject } from './context.ts';
import { createPrepared } from './create.ts';
import { managerOf, withoutSystemFields } from './admit.ts';
import { changeObject } from './update.ts';

interface PatchAnswer {
  readonly isNew: boolean;
  readonly object: KubeObject;
}

/** `mayCreate` throws when the user may not create the missing object of an apply. */
export async function patchObject(
  context: WriteContext,
  request: ObjectRequest,
  mayCreate: () => void,
): Promise<PatchAnswer> {
  if (request.patchType === 'apply') return await applyObject(context, request, mayCreate);
  const object = await changeObject(context, request, (stored) => patched(request, stored));
  return { isNew: false, object };
}

function patched(request: ObjectRequest, stored: KubeObject): KubeObject {
  const { resource, name } = request;
  const object = submittedObject(request, patchedBy(request, stored));
  if (object.metadata.name === name) return object;
  const message = 'Invalid value: field is immutable';
  throw invalidError(resource, name ?? '', [
    { reason: 'FieldValueInvalid', message, field: 'metadata.name' },
  ]);
}

function patchedBy({ resource, patchType, body }: ObjectRequest, stored: KubeObject): KubeObject {
  switch (patchType) {
    case 'json':
      return jsonPatched(stored, body);
    case 'merge':
      return mergePatched(stored, body);
    case 'strategic':
      return mergePatched(stored, body, resource);
    default:
      throw badRequestError('a patch without a type');
  }
}

async function applyObject(
  context: WriteContext,
  request: ObjectRequest,
  mayCreate: () => void,
): Promise<PatchAnswer> {
  const { resource, namespace, name = '', query } = request;
  const wanted = appliedObject(request);
  const { uid, resourceVersion } = wanted.metadata;
  const onto = (stored: KubeObject | undefined): KubeObject => {
    const manager = managerOf(request, context.now());
    const force = query.get('force') === 'true';
    return applied({ resource, stored, applied: wanted, manager, force });
  };
  if (context.store.get(resource, namespace, name) === undefined && request.subresource === undefined) {
    mayCreate();
    if (uid !== undefined) throw conflictError(resource, name, 'there is none with that uid');
    const created = createPrepared(context, request, withoutSystemFields(onto(undefined)));
    const object = await created.catch(ifThere);
    if (object !== undefined) return { isNew: true, object };
  }
  const object = await changeObject(context, request, (stored) => {
    const merged = onto(stored);
    const preconditions = Object.entries({ uid, resourceVersion }).filter(([, value]) => value !== undefined);
    return { ...merged, metadata: { ...merged.metadata, ...Object.fromEntries(preconditions) } };
  });
  return { isNew: false, object };
}

/** Returns undefined if the object was created meanwhile. Then the apply changes that object. */
function ifThere(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status.reason !== 'AlreadyExists') throw error;
}

function appliedObject(request: ObjectRequest): KubeObject {
  const { body, query, name = '' } = request;
  const given = isJsonObject(body) ? body : undefined;
  if (given?.['kind'] === undefined || given['apiVersion'] === undefined) {
    throw badRequestError('an applied object says its apiVersion and its kind');
  }
  if (!query.has('fieldManager')) throw noManager();
  const { metadata, ...rest } = submittedObject(request);
  if ((metadata.name ?? name) !== name) {
    throw badRequestError(`the applied object is called ${metadata.name}, and not ${name} as its path says`);
  }
  return { ...rest, metadata: { ...metadata, name } };
}

function noManager(): ApiError {
  const message = 'Required value: is required for apply patch';
  const causes = [{ reason: 'FieldValueRequired', message, field: 'fieldManager' }];
  return invalidError({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', causes);
}
