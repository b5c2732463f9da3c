// Replacing an object takes a deletion and a creation. A stop between both waits for the creation.
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { bindingPolicy, settledWith } from '../../support/provided.ts';
import type { Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

/** Stops the reconciler as soon as the old object is deleted. `making` is what happens to the request for the new one. */
async function endedWhileReplacing(
  making: (signal: AbortSignal | undefined) => Promise<unknown>,
): Promise<{ readonly h: Harness; readonly ended: Promise<void> }> {
  const h = await settledWith(harness(), bindingPolicy(), ['a']);
  let ended = Promise.reject<void>(new Error('nothing was replaced'));
  ended.catch(() => undefined);
  h.memory.before = async ({ verb, ref, signal }) => {
    if (verb !== 'apply' || ref.kind !== 'RoleBinding') return;
    ended = h.stop();
    await making(signal);
  };
  h.policy('p', bindingPolicy({}, { roleRef: { kind: 'ClusterRole', name: 'view' } }));
  await h.clock.advance(1000);
  return { h, ended };
}

describe('a stop between deletion and creation', () => {
  test('waits until the deleted object is created again', async () => {
    const { h, ended } = await endedWhileReplacing(async () => await Promise.resolve());
    await ended;
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({ roleRef: { name: 'view' } });
    expect(h.clock.sleeping).toEqual([]);
  });

  test('waits at most three seconds for the creation', async () => {
    let isOver = false;
    const { h, ended } = await endedWhileReplacing(
      async (signal) => signal !== undefined && (await once(signal, 'abort')),
    );
    void ended.then(() => (isOver = true));
    await h.clock.advance(1900);
    expect(isOver).toBe(false);
    await h.clock.advance(1100);
    await ended;
    expect(h.get('RoleBinding', 'devs', 'a')).toBeUndefined();
  });
});
