// A namespace with many providers: steps of different providers run at once, steps of one provider one after the other.
import { expect, test } from 'vitest';
import type { Harness } from '../../../support/reconcile-harness.ts';
import { refTo } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();

function quota(name: string): object {
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard: { pods: '4' } } };
}

/** Returns a function that gives the largest number of writes and deletions of quotas at once, since its last call. */
function countAtOnce(h: Harness): () => number {
  let [running, most] = [0, 0];
  h.memory.latency = () => 3;
  h.memory.before = ({ verb, ref }) => {
    if (ref.kind !== 'ResourceQuota' || (verb !== 'apply' && verb !== 'delete')) return;
    running += 1;
    most = Math.max(most, running);
  };
  h.memory.after = ({ verb, ref }) => {
    if (ref.kind === 'ResourceQuota' && (verb === 'apply' || verb === 'delete')) running -= 1;
  };
  return () => {
    const counted = most;
    most = 0;
    return counted;
  };
}

test('objects of different policies are created and deleted at once, at most eight in one namespace', async () => {
  const h = harness();
  const names = Array.from({ length: 20 }, (_, index) => `policy-${index}`);
  for (const name of names)
    h.policy(name, { match: { names: ['shop'] }, contents: { resources: [quota(name)] } });
  h.namespace('shop');
  const mostAtOnce = countAtOnce(h);
  h.start();
  await h.settle();
  expect([h.memory.list('ResourceQuota', 'shop').length, mostAtOnce()]).toEqual([20, 8]);
  for (const name of names) h.memory.delete(refTo('NamespacePolicy', name));
  await h.settle();
  expect([h.memory.list('ResourceQuota', 'shop').length, mostAtOnce()]).toEqual([0, 8]);
});

test('objects of one policy are created one after the other, because a RoleBinding needs its Role', async () => {
  const h = harness();
  const contents = { resources: ['a', 'b', 'c'].map(quota) };
  h.policy('policy', { match: { names: ['shop'] }, contents });
  h.namespace('shop');
  const mostAtOnce = countAtOnce(h);
  h.start();
  await h.settle();
  expect([h.memory.list('ResourceQuota', 'shop').length, mostAtOnce()]).toEqual([3, 1]);
});
