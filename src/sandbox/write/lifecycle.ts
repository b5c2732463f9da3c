// Nothing is created in a namespace that is not there or is being deleted, and some namespaces stay.
// https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle
import { storedNamespace } from '../admission/configurations.ts';
import { forbiddenError } from '../api-error.ts';
import { namespaceKind } from '../kinds/plain-kinds.ts';
import type { Resource } from '../resource.ts';
import type { SandboxStore } from '../store/store.ts';

const immortal = ['default', 'kube-system', 'kube-public'];

export function checkNamespace(
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

export function checkDeletable(resource: Resource, name: string): void {
  if (resource === namespaceKind && immortal.includes(name)) {
    throw forbiddenError(resource, name, 'this namespace may not be deleted');
  }
}
