// Replacing an object takes a deletion and a creation: nothing comes between both, and a stop waits for the creation.
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import { bindingPolicy, settledWith } from '../../support/provided.ts';
import { failure } from '../../support/memory-objects.ts';
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
    if (verb !== 'apply' || ref.kind !== 'RoleBinding' || ref.name !== 'devs') return;
    ended = h.stop();
    await making(signal);
  };
  h.policy('p', bindingPolicy({}, { roleRef: { kind: 'ClusterRole', name: 'view' } }));
  await h.clock.advance(1000);
  return { h, ended };
}

describe('a stop between deletion and creation', () => {
  test('a stop between deletion and creation waits until the deleted object is created again', async () => {
    const { h, ended } = await endedWhileReplacing(async () => await Promise.resolve());
    await ended;
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({ roleRef: { name: 'view' } });
    expect(h.clock.sleeping).toEqual([]);
  });

  test('a stop between deletion and creation waits at most three seconds for the creation', async () => {
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

const view = bindingPolicy({}, { roleRef: { kind: 'ClusterRole', name: 'view' } });

test('the creation follows the deletion directly, and the event says for how long access was interrupted', async () => {
  const namespaces = ['a', 'b', 'c'];
  const h = await settledWith(harness(), bindingPolicy(), namespaces);
  const requests: string[] = [];
  h.memory.before = async ({ verb, ref }) => {
    await Promise.resolve();
    if (ref.kind === 'RoleBinding') requests.push(`${ref.namespace ?? ''}: ${verb} ${ref.name}`);
  };
  h.memory.latency = () => 2;
  h.policy('p', view);
  await h.settle();
  for (const name of namespaces)
    expect(requests.filter((each) => each.startsWith(name))).toEqual([
      `${name}: apply devs.rehearsal`,
      `${name}: delete devs`,
      `${name}: apply devs`,
    ]);
  const notes = h.told.events.filter(({ reason }) => reason === 'Replaced').map(({ note }) => note);
  const gap = ': deleted and created again: access was interrupted for at most \\d+ ms$';
  expect(notes.filter((note) => !new RegExp(gap).test(note))).toEqual([]);
  expect(notes.some((note) => note.startsWith('Replaced 3 RoleBindings in 3 namespaces: '))).toBe(true);
});

test.each([403, 422])(
  'nothing is deleted when the API server would refuse the creation with %i',
  async (code) => {
    const h = await settledWith(harness(), bindingPolicy(), ['a']);
    h.memory.fault = (verb, { name }) => (verb === 'apply' && name !== 'devs' ? failure(code) : undefined);
    h.policy('p', view);
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({ roleRef: { name: 'edit' } });
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failed: 1 });
  },
);

test.each([
  [
    'a full quota, in which the deletion makes room',
    { code: 403, reason: 'Forbidden', refusal: { by: 'quota' } },
  ],
  ['a webhook that refuses dry runs', { code: 400, reason: 'BadRequest' }],
] as const)('%s does not stop the change', async (_what, answer) => {
  const h = await settledWith(harness(), bindingPolicy(), ['a']);
  const error = new KubeError({ ...answer, retryable: false });
  h.memory.fault = (verb, { name }) => (verb === 'apply' && name !== 'devs' ? error : undefined);
  h.policy('p', view);
  await h.settle();
  expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({ roleRef: { name: 'view' } });
});
