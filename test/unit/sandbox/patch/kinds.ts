// Provides the kinds of the patch tests, with only the parts that patches read.
import type { Resource } from '../../../../src/sandbox/resource.ts';

function kind(group: string, name: string, plural: string, more: Partial<Resource> = {}): Resource {
  return {
    group,
    version: 'v1',
    kind: name,
    plural,
    singular: name.toLowerCase(),
    shortNames: [],
    categories: [],
    isNamespaced: true,
    subresources: [],
    columns: [],
    rules: { prepare: (submitted) => submitted, problems: () => [] },
    isCustom: false,
    ...more,
    listKeys: { 'metadata/finalizers': [], 'metadata/ownerReferences': ['uid'], ...more.listKeys },
  };
}

export const kinds = {
  ConfigMap: kind('', 'ConfigMap', 'configmaps'),
  Secret: kind('', 'Secret', 'secrets'),
  Namespace: kind('', 'Namespace', 'namespaces', {
    isNamespaced: false,
    subresources: ['status', 'finalize'],
    listKeys: { 'status/conditions': ['type'] },
  }),
  RoleBinding: kind('rbac.authorization.k8s.io', 'RoleBinding', 'rolebindings'),
  ResourceQuota: kind('', 'ResourceQuota', 'resourcequotas', { subresources: ['status'] }),
  ServiceAccount: kind('', 'ServiceAccount', 'serviceaccounts', {
    listKeys: { secrets: ['name'], imagePullSecrets: ['name'] },
  }),
  Widget: kind('example.com', 'Widget', 'widgets', {
    isCustom: true,
    subresources: ['status'],
    listKeys: { 'spec/ports': ['port', 'protocol'], 'spec/tags': [] },
  }),
};
