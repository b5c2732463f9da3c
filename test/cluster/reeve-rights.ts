// Runs each process of Reeve with the account of its role, which has only the rights of that role.
import { readFile } from 'node:fs/promises';
import { manifestObjects } from '../support/manifest-files.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { reeveNamespace } from './reeve-install.ts';

const accounts = {
  all: 'reeve-reconciler',
  reconciler: 'reeve-reconciler',
  webhook: 'reeve-webhook',
} as const;

export type Role = keyof typeof accounts;

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const places = new Map([
  ['ClusterRoleBinding', `${rbac}/clusterrolebindings`],
  ['RoleBinding', `${rbac}/namespaces/${reeveNamespace}/rolebindings`],
]);

/** Returns the kubeconfig of the role's own account. Throws when the given one belongs to another account. */
export async function roleKubeconfig(cluster: ClusterAccess, role: Role, given?: string): Promise<string> {
  await giveUnion(cluster, role);
  if (given === undefined) return await cluster.tokenKubeconfig(reeveNamespace, accounts[role]);
  const { users } = JSON.parse(await readFile(given, 'utf8')) as {
    readonly users: readonly { readonly name: string }[];
  };
  const account = `system:serviceaccount:${reeveNamespace}:${accounts[role]}`;
  if (users.length === 1 && users[0]?.name === account) return given;
  throw new Error(`Reeve runs as ${account}, and must run as its own account`);
}

/** Grants the account the rights of both roles only while Reeve runs in both roles. */
async function giveUnion({ admin }: ClusterAccess, role: Role): Promise<void> {
  if (role === 'webhook') return;
  for (const { kind, name, object } of manifestObjects('all-in-one')) {
    const place = places.get(kind);
    if (place === undefined) continue;
    const { status, body } =
      role === 'all'
        ? await admin.send('POST', place, object)
        : await admin.send('DELETE', `${place}/${name}`);
    if (status >= 300 && status !== 404 && status !== 409) throw new Error(JSON.stringify(body));
  }
}
