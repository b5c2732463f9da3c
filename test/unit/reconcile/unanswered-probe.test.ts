import { expect, test } from 'vitest';
import { failure } from '../../support/memory-objects.ts';
import { bindingPolicy, team } from '../../support/provided.ts';
import { refTo } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

test.each([403, 503, 0])('a provider that the fuse cannot judge (%i) delays no other one', async (code) => {
  let fails = true;
  const isKindTerminating = async (): Promise<boolean> => {
    await Promise.resolve();
    if (fails) throw failure(code);
    return false;
  };
  const h = harness({ kinds: { isKindTerminating } });
  h.namespace('a', team);
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle();
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  h.policy('q', bindingPolicy({}, { name: 'more' }));
  await h.settle();
  expect(h.get('RoleBinding', 'more', 'a')).toBeDefined();
  expect(h.get('RoleBinding', 'devs', 'a')).toBeDefined();
  fails = false;
  await h.settle(70_000);
  expect(h.get('RoleBinding', 'devs', 'a')).toBeUndefined();
  expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
});
