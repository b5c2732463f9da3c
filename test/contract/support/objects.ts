// Knows the paths of the kinds under test, and minimal objects of these kinds.

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const admission = '/apis/admissionregistration.k8s.io/v1';

const places = {
  namespaces: '/api/v1',
  secrets: '/api/v1',
  configmaps: '/api/v1',
  serviceaccounts: '/api/v1',
  resourcequotas: '/api/v1',
  limitranges: '/api/v1',
  networkpolicies: '/apis/networking.k8s.io/v1',
  roles: rbac,
  rolebindings: rbac,
  clusterroles: rbac,
  clusterrolebindings: rbac,
  jobs: '/apis/batch/v1',
  leases: '/apis/coordination.k8s.io/v1',
  customresourcedefinitions: '/apis/apiextensions.k8s.io/v1',
  mutatingwebhookconfigurations: admission,
  validatingwebhookconfigurations: admission,
  validatingadmissionpolicies: admission,
  validatingadmissionpolicybindings: admission,
  namespacepolicies: '/apis/reeve.dev/v1alpha1',
  secretshares: '/apis/reeve.dev/v1alpha1',
  configmapshares: '/apis/reeve.dev/v1alpha1',
  securityintents: '/apis/reeve.dev/v1alpha1',
  clustersecurityintentbindings: '/apis/reeve.dev/v1alpha1',
  securityintentbindings: '/apis/reeve.dev/v1alpha1',
} as const;

export type Plural = keyof typeof places;

/**
 * Returns the path of a collection, an object or a subresource. Without a namespace: cluster-scoped kinds, or all
 * namespaces.
 */
export function at(plural: Plural, namespace: string, ...rest: readonly string[]): string {
  const scope = namespace === '' ? [] : ['namespaces', namespace];
  return [places[plural], ...scope, plural, ...rest].join('/');
}

type Texts = Readonly<Record<string, string>>;

interface Written {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export function configMap(name: string, data: Texts = {}, metadata: object = {}): Written {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export function secret(name: string, rest: object = {}): Written {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...rest };
}

export function namespaceNamed(name: string, metadata: object = {}): Written {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } };
}

export function share(name: string, spec: object = shareSpec): Written {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecretShare', metadata: { name }, spec };
}

export const shareSpec = {
  source: { namespace: 'nowhere', name: 'nothing' },
  targets: { names: ['nobody-*'] },
} as const;

export function intent(name: string, spec: object = { id: 'escapeToHost' }): Written {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecurityIntent', metadata: { name }, spec };
}

export function intentBinding(
  kind: 'ClusterSecurityIntentBinding' | 'SecurityIntentBinding',
  name: string,
  spec: object = { intents: ['a'] },
): Written {
  return { apiVersion: 'reeve.dev/v1alpha1', kind, metadata: { name }, spec };
}

const rbacGroup = 'rbac.authorization.k8s.io';

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export function role(kind: 'Role' | 'ClusterRole', name: string, rules: readonly Rule[]): Written {
  return { apiVersion: `${rbacGroup}/v1`, kind, metadata: { name }, rules };
}

export function binding(
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  name: string,
  [roleKind, roleName]: readonly ['Role' | 'ClusterRole', string],
  user: string,
): Written {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind,
    metadata: { name },
    roleRef: { apiGroup: rbacGroup, kind: roleKind, name: roleName },
    subjects: [{ apiGroup: rbacGroup, kind: 'User', name: user }],
  };
}
