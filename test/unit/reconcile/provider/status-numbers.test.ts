// Checks that the numbers for the metrics are those of the statuses, and end with the provider and with the leadership.
import { expect, test } from 'vitest';
import { bindingPolicy, settledWith, team } from '../../../support/provided.ts';
import { refTo, start } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();
const inHours = (hours: number): Date => new Date(start.getTime() + hours * 3_600_000);

test('the numbers are those of the status, with the next end of an exception and of a grant', async () => {
  const expiresAt = inHours(5).toISOString();
  const spec = bindingPolicy(
    {
      namespaces: { required: { labels: { owner: {} } } },
      exceptions: [{ namespaces: ['c'], rules: ['namespaces.required'], expiresAt, reason: 'X' }],
    },
    { expiresAfter: '8h' },
  );
  const h = await settledWith(harness(), spec, ['a', 'b', 'c']);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    matched: 3,
    desired: 3,
    synced: 3,
    violations: 2,
  });
  expect(h.reconciler.numbers()).toMatchObject({
    providers: [
      {
        kind: 'NamespacePolicy',
        name: 'p',
        isReady: true,
        matched: 3,
        desired: 3,
        synced: 3,
        conflicts: 0,
        failed: 0,
        violations: { namespaces: 2 },
        exceptionsEnd: [Date.parse(expiresAt)],
        grantsEnd: inHours(8).getTime(),
      },
    ],
    namespaces: { ready: 3, notReady: 0 },
  });
});

test('a conflict makes the policy and the namespace not ready', async () => {
  const h = harness();
  h.namespace('a', team);
  h.memory.put({
    ...refTo('RoleBinding', 'devs', 'a'),
    metadata: { name: 'devs', namespace: 'a' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  });
  await settledWith(h, bindingPolicy(), ['b']);
  expect(h.reconciler.numbers()).toMatchObject({
    providers: [{ isReady: false, desired: 2, synced: 1, conflicts: 1 }],
    namespaces: { ready: 1, notReady: 1 },
  });
});

test('a deleted provider has no numbers, and neither has a process that does not lead', async () => {
  const h = await settledWith(harness(), bindingPolicy(), ['a']);
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect(h.reconciler.numbers()).toEqual({ providers: [], namespaces: { ready: 1, notReady: 0 } });
  await h.stop();
  expect(h.reconciler.numbers()).toBeUndefined();
});
