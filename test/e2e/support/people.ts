// Ordinary users with rights of RBAC, for tests of what Reeve lets them do beyond.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';

export function person(cluster: ClusterAccess, as: string, ...asGroup: readonly string[]): KubectlOptions {
  return { kubeconfig: cluster.kubeconfig, as, asGroup };
}

/** An administrator whom not even Reeve holds up. */
export function emergency(cluster: ClusterAccess): KubectlOptions {
  return person(cluster, 'admin', 'system:masters', 'reeve:break-glass');
}

interface ClusterRoleSource {
  readonly name: string;
  readonly rules: readonly object[];
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
}

/** A ClusterRole and its binding; whether the API server knows of it already is for the caller to wait for. */
export async function grant(cluster: ClusterAccess, role: ClusterRoleSource): Promise<void> {
  const { name, rules, users = [], groups = [] } = role;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const subjects = [
    ...users.map((user) => ({ kind: 'User', name: user })),
    ...groups.map((group) => ({ kind: 'Group', name: group })),
  ].map((subject) => ({ apiGroup: 'rbac.authorization.k8s.io', ...subject }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  const items = [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects },
  ];
  await mustKubectl(['apply', '-f', '-'], {
    kubeconfig: cluster.kubeconfig,
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  });
}

/** All that can be done with Namespaces, and nothing else. */
export const namespaceRules = [
  {
    apiGroups: [''],
    resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'],
    verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
  },
];
