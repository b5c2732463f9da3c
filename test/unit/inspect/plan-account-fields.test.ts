// What `reeve plan` says of ServiceAccounts that an older version gave fields to.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { findInstall } from '../../../src/cli/input/find-install.ts';
import { clusterState } from '../../../src/inspect/input/cluster-state.ts';
import { planCluster } from '../../../src/inspect/plan/plan-cluster.ts';
import { oldMarkOf, pullSecretItem } from '../../../src/policy/plan/account.ts';
import { providerId } from '../../../src/policy/terms/provider-id.ts';
import { oldFieldsManager } from '../../../src/schema/names.ts';

test('fields with marks of an older version are updated, and the plan says that only the annotation is new', async () => {
  const mark = oldMarkOf(providerId('NamespacePolicy', 'p'), pullSecretItem('one'));
  const objects: readonly KubeObject[] = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', uid: 'a' } },
    {
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'NamespacePolicy',
      metadata: { name: 'p', uid: 'p', resourceVersion: '1' },
      spec: { contents: { serviceAccounts: [{ name: 'default', imagePullSecrets: ['one'] }] } },
    },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: {
        name: 'default',
        namespace: 'a',
        uid: 's',
        managedFields: [
          {
            manager: `${oldFieldsManager}/${mark}`,
            operation: 'Apply',
            fieldsV1: { 'f:imagePullSecrets': {} },
          },
        ],
      },
      imagePullSecrets: [{ name: 'one' }],
    },
  ];
  const facts = { origin: 'test', isCluster: true, unread: [], isServed: () => true, hasManagers: true };
  const base = clusterState({ ...facts, install: findInstall([], {}) }, objects);
  const { namespaces } = await planCluster({ base, objects: [], now: new Date('2026-11-23T08:00:00Z') });
  expect(namespaces.flatMap(({ changes }) => changes)).toMatchObject([
    {
      action: 'update',
      provider: 'NamespacePolicy/p',
      message: 'the annotation reeve.dev/fields says which policies added its fields',
      diff: [],
    },
  ]);
});
