// Nothing is created in a namespace that is not there or is being deleted, and some namespaces stay.
// https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle
import { forbidden, notFound } from '../api-error.ts';
import type { Resource } from '../resource.ts';
import type { WriteContext } from './context.ts';

const immortal = ['default', 'kube-system', 'kube-public'];

export function checkNamespace(
  { store, kinds }: Pick<WriteContext, 'store' | 'kinds'>,
  resource: Resource,
  namespace: string | undefined,
  name: string,
): void {
  const namespaces = kinds.find('', 'v1', 'namespaces');
  if (namespace === undefined || namespaces === undefined) return;
  const found = store.get(namespaces, undefined, namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  throw forbidden(
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
  if (resource.group === '' && resource.plural === 'namespaces' && immortal.includes(name)) {
    throw forbidden(resource, name, 'this namespace may not be deleted');
  }
}
