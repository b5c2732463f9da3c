// The report on role bindings after an uninstall: only bindings outside of the install are the administrator's.
import { expect, it } from 'vitest';
import type { ObjectRef } from '../../../src/base/metadata.ts';
import type { KubeClient } from '../../../src/kube/http/client.ts';
import type { ObjectWriter } from '../../../src/base/object-writer.ts';
import { findLeftovers } from '../../../src/uninstall/steps.ts';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const shipped: readonly ObjectRef[] = [
  { ...rbac, kind: 'ClusterRoleBinding', name: 'reeve-webhook' },
  { ...rbac, kind: 'ClusterRole', name: 'by-hand' },
];

const binding = (name: string, account: string, namespace = 'reeve-system'): object => ({
  metadata: { name, uid: name, resourceVersion: '1' },
  subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
});

it('a shipped binding counts as left over, and another binding of an account of Reeve belongs to the user', async () => {
  const items = [
    binding('reeve-webhook', 'reeve-webhook'),
    binding('by-hand', 'reeve-webhook'),
    binding('more', 'reeve-reconciler'),
    binding('of-others', 'builder'),
    binding('elsewhere', 'reeve-webhook', 'other'),
  ];
  const client: Pick<KubeClient, 'request'> = {
    request: () =>
      Promise.resolve({
        ...rbac,
        kind: 'ClusterRoleBindingList',
        metadata: { resourceVersion: '1' },
        items,
      }),
  };
  const writer: Pick<ObjectWriter, 'read'> = {
    read: ({ kind, name }) =>
      Promise.resolve(kind === 'ClusterRoleBinding' ? { kind, metadata: { name } } : undefined),
  };
  const found = await findLeftovers(
    shipped,
    { providers: [], marked: [], accounts: [], grants: [], unseen: [] },
    'reeve-system',
    {
      client: client as KubeClient,
      writer: writer as ObjectWriter,
    },
  );
  expect(found).toEqual({
    left: ['ClusterRoleBinding reeve-webhook'],
    notes: ['by-hand', 'more'].map(
      (name) => `ClusterRoleBinding ${name} is yours, and names an account of Reeve`,
    ),
  });
});
