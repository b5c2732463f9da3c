// Creates objects.
import type { KubeObject } from '../../base/metadata.ts';
import { alreadyExistsError, badRequestError, forbiddenError } from '../api-error.ts';
import type { ObjectRequest, Resource } from '../resource.ts';
import { type WriteContext, isDryRun, optionsOf, submittedObject } from './context.ts';
import { storedNamespace } from '../admission/configurations.ts';
import type { SandboxStore } from '../store.ts';
import { admitObject, withoutSystemFields } from './admit.ts';

export async function createObject(context: WriteContext, request: ObjectRequest): Promise<KubeObject> {
  const submitted = submittedObject(request);
  if (submitted.metadata['resourceVersion'] !== undefined) {
    throw badRequestError('resourceVersion should not be set on objects to be created');
  }
  return await createPrepared(context, request, withoutSystemFields(submitted));
}

/** Also used by an apply of a missing object. */
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
  // The namespace may have been deleted while the webhooks were called.
  checkNamespace(context.store, resource, namespace, name);
  const other = context.store.get(resource, namespace, name);
  if (other !== undefined)
    throw alreadyExistsError(resource, name, other.metadata.deletionTimestamp !== undefined);
  return isDryRun(request) ? created : (context.store.put(resource, created, undefined) ?? created);
}

/** https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle */
function checkNamespace(
  store: SandboxStore,
  resource: Resource,
  namespace: string | undefined,
  name: string,
): void {
  if (namespace === undefined) return;
  if (storedNamespace(store, namespace).metadata.deletionTimestamp === undefined) return;
  throw forbiddenError(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}
