// Patches objects, and applies them.
import { isJsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/kube-object.ts';
import { badRequest, conflict, invalid, type ApiError } from '../api-error.ts';
import { applied } from '../patch/apply.ts';
import { jsonPatched } from '../patch/json-patch.ts';
import { mergePatched } from '../patch/merge-patch.ts';
import type { ObjectRequest } from '../request.ts';
import type { WriteContext } from './context.ts';
import { createObject } from './create.ts';
import { managerOf } from './settle.ts';
import { submittedObject } from './submitted.ts';
import { withoutSystemFields } from './system-fields.ts';
import { change } from './update.ts';

export interface PatchAnswer {
  readonly isNew: boolean;
  readonly object: KubeObject;
}

/** `mayCreate` throws where an apply of what is not there is not allowed. */
export async function patch(
  context: WriteContext,
  request: ObjectRequest,
  mayCreate: () => void,
): Promise<PatchAnswer> {
  if (request.patchType === 'apply') return await apply(context, request, mayCreate);
  const object = await change(context, request, (stored) => patched(request, stored));
  return { isNew: false, object };
}

function patched(request: ObjectRequest, stored: KubeObject): KubeObject {
  const { resource, name } = request;
  const object = submittedObject(request, patchedBy(request, stored));
  if (object.metadata.name === name) return object;
  const message = 'Invalid value: field is immutable';
  throw invalid(resource, name ?? '', [{ reason: 'FieldValueInvalid', message, field: 'metadata.name' }]);
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
      throw badRequest('a patch without a type');
  }
}

async function apply(
  context: WriteContext,
  request: ObjectRequest,
  mayCreate: () => void,
): Promise<PatchAnswer> {
  const { resource, namespace, name = '', query } = request;
  const given = isJsonObject(request.body) ? request.body : undefined;
  if (given?.['kind'] === undefined || given['apiVersion'] === undefined) {
    throw badRequest('an applied object says its apiVersion and its kind');
  }
  if (!query.has('fieldManager')) throw noManager();
  const submitted = submittedObject(request);
  if ((submitted.metadata.name ?? name) !== name) {
    throw badRequest(
      `the applied object is called ${submitted.metadata.name}, and not ${name} as its path says`,
    );
  }
  const wanted = { ...submitted, metadata: { ...submitted.metadata, name } };
  const onto = (stored: KubeObject | undefined): KubeObject => {
    const manager = managerOf(request, context.now());
    const force = query.get('force') === 'true';
    return applied({ resource, stored, applied: wanted, manager, force });
  };
  if (context.store.get(resource, namespace, name) === undefined && request.subresource === undefined) {
    mayCreate();
    if (submitted.metadata.uid !== undefined) throw conflict(resource, name, 'there is none with that uid');
    const object = withoutSystemFields(onto(undefined));
    return { isNew: true, object: await createObject(context, request, object) };
  }
  const { uid, resourceVersion } = submitted.metadata;
  const object = await change(context, request, (stored) => {
    const merged = onto(stored);
    const preconditions = Object.entries({ uid, resourceVersion }).filter(([, value]) => value !== undefined);
    return { ...merged, metadata: { ...merged.metadata, ...Object.fromEntries(preconditions) } };
  });
  return { isNew: false, object };
}

function noManager(): ApiError {
  const message = 'Required value: is required for apply patch';
  const causes = [{ reason: 'FieldValueRequired', message, field: 'fieldManager' }];
  return invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', causes);
}
