import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { failure } from '../../support/memory-objects.ts';
import { bindingOf, bindingPolicy, team, teams } from '../../support/provided.ts';
import type { Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

/** Lets requests in the namespace `bad` run into a timeout. */
function hanging(spec: object): { readonly h: Harness; readonly names: Set<string> } {
  const h = harness();
  const names = new Set<string>();
  for (const name of ['good', 'bad']) h.namespace(name, team);
  h.policy('p', spec);
  h.memory.before = async ({ ref, signal }) => {
    if (ref.namespace !== 'bad') return;
    names.add(ref.name);
    await h.clock.sleep(30_000, signal);
    throw failure(0);
  };
  h.start();
  return { h, names };
}

async function pass(h: Harness, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 100) {
    await h.clock.advance(100);
    for (let turns = 0; turns < 10; turns += 1) await setImmediate();
  }
}

test('a hanging namespace delays no condition of others, and no status for long', async () => {
  const { h } = hanging(bindingPolicy());
  await pass(h, 3000);
  expect(h.condition('Namespace', 'good', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
  expect(h.reconciler.health().isInitialSyncDone).toBe(false);
  await pass(h, 14_000);
  expect(h.reconciler.health().isInitialSyncDone).toBe(true);
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
    status: 'False',
    reason: 'Reconciling',
    message: '1 namespace left to reconcile',
  });
  h.memory.before = () => undefined;
  await pass(h, 16_000);
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True', reason: 'Synced' });
});

test('a round skips the rest after the first unanswered request, and reports the rest in the end', async () => {
  const roleBindings = ['x', 'y', 'z'].map((name) => bindingOf({ name }));
  const { h, names } = hanging({ match: teams, contents: { roleBindings } });
  await pass(h, 170_000);
  expect([...names]).toEqual(['x']);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ desired: 6, synced: 3, failed: 3 });
});
