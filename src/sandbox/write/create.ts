// Creates objects.
import type { KubeObject } from '../../base/kube-object.ts';
import { alreadyExistsError, badRequestError } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import type { WriteContext } from './context.ts';
import { checkNamespace } from './lifecycle.ts';
import { isDryRun, optionsOf } from './options.ts';
import { admitObject } from './admit.ts';
import { submittedObject } from './submitted.ts';
import { withoutSystemFields } from './system-fields.ts';

export async function createObject(context: WriteContext, request: ObjectRequest): Promise<KubeObject> {
  const submitted = submittedObject(request);
  if (submitted.metadata['resourceVersion'] !== undefined) {
    throw badRequestError('resourceVersion should not be set on objects to be created');
  }
  return await createPrepared(context, request, withoutSystemFields(submitted));
}

/** Also for an apply of what is not there. */
export async function createPrepared(
  context: WriteContext,
  request: ObjectRequest,
  object: KubeObject,
): Promise<KubeObject> {
  const { resource, namespace } = request;
  checkNamespace(context.store, resource, namespace, object.metadata.name ?? '');
  const options = optionsOf(request, 'CreateOptions');
  const created = await admitObject(context, request, { object, stored: undefined, options });
  const name = created.metadata.name ?? '';
  // The namespace may have gone while the webhooks were asked.
  checkNamespace(context.store, resource, namespace, name);
  const other = context.store.get(resource, namespace, name);
  if (other !== undefined)
    throw alreadyExistsError(resource, name, other.metadata.deletionTimestamp !== undefined);
  return isDryRun(request) ? created : (context.store.put(resource, created, undefined) ?? created);
}
