import { expect, test } from 'vitest';
import { bindingPolicy, team } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

async function goingWithoutQuotas(): Promise<Harness> {
  const h = harness({}, undefined, { unserved: ['ResourceQuota'] });
  h.namespace('a', team);
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle();
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  return h;
}

test('a deleted policy keeps its finalizer until the watches of its kinds have synced', async () => {
  const h = await goingWithoutQuotas();
  expect(h.get('RoleBinding', 'devs', 'a')).toBeUndefined();
  const message = 'being deleted, once the watches of these kinds have synced: ResourceQuota';
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'False', reason: 'Deleting', message });
  h.serve('ResourceQuota');
  await h.settle();
  expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
});

test('a deleted policy waits at most a minute for the watches of its kinds', async () => {
  const h = await goingWithoutQuotas();
  expect(h.get('NamespacePolicy', 'p')).toBeDefined();
  await h.settle(70_000);
  expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
});
