// Ordinary users with rights in RBAC, for tests of what Reeve refuses them all the same.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';

export function person(cluster: ClusterAccess, as: string, ...asGroup: readonly string[]): KubectlOptions {
  return { kubeconfig: cluster.kubeconfig, as, asGroup };
}

/** Returns an administrator whom Reeve's webhooks and guard exempt. */
export function emergency(cluster: ClusterAccess): KubectlOptions {
  return person(cluster, 'admin', 'system:masters', 'reeve:break-glass');
}

interface ClusterRoleSource {
  readonly name: string;
  readonly rules: readonly object[];
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
}

/** Creates a ClusterRole and its binding. The caller must wait until the API server has noticed them. */
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

/** Rules that grant everything on Namespaces and nothing else. */
export const namespaceRules = [
  {
    apiGroups: [''],
    resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'],
    verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
  },
];
