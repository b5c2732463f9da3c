import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bindingPolicy, quotaOf, team, settledWith } from '../../support/provided.ts';
import { failure } from '../../support/memory-objects.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

const begun = (
  spec: object = bindingPolicy(),
  namespaces: readonly string[] = ['a', 'b', 'c'],
): Promise<Harness> => settledWith(harness(), spec, namespaces);

/** Records every status of the policy from now on: its numbers and its Ready condition. */
function historyOf(h: Harness): unknown[] {
  const history: unknown[] = [];
  h.memory.after = ({ verb, subresource }) => {
    if (verb !== 'patch' || subresource !== 'status') return;
    const { desired, synced } = h.status('NamespacePolicy', 'p');
    history.push([desired, synced, h.condition('NamespacePolicy', 'p')?.['reason']]);
  };
  return history;
}

describe('the status of a policy', () => {
  test('the status counts namespaces and objects, and is valid by its schema', async () => {
    const h = await begun();
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Synced' }];
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      observedGeneration: 1,
      matched: 3,
      desired: 3,
      synced: 3,
      conflicts: 0,
      failed: 0,
      violations: 0,
      topViolations: [],
      failures: [],
      conditions,
    });
  });

  test('a new namespace does not make the status False in between', async () => {
    const h = await begun();
    const history = historyOf(h);
    h.namespace('d', team);
    await h.settle();
    expect(history).toEqual([[4, 4, 'Synced']]);
  });

  test('many changes cost one write of the status', async () => {
    const h = await begun();
    const history = historyOf(h);
    for (let index = 0; index < 20; index += 1) h.namespace(`n${index}`, team);
    await h.settle();
    expect(history.at(-1)).toEqual([23, 23, 'Synced']);
    expect(history.length).toBeLessThanOrEqual(2);
  });

  test('an object that was deleted and created again does not change the status', async () => {
    const h = await begun();
    const history = historyOf(h);
    h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
    await h.settle();
    expect(history).toEqual([]);
  });

  test('the status of a new generation is written when all namespaces have reported', async () => {
    const h = await begun();
    const history = historyOf(h);
    h.policy('p', bindingPolicy({}, { subjects: [{ kind: 'User', name: 'x' }] }));
    await h.settle();
    expect(history).toEqual([[3, 3, 'Synced']]);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ observedGeneration: 2 });
  });

  test('the status reports after a second Reconciling and how many namespaces are left', async () => {
    const h = await begun();
    const history = historyOf(h);
    const gate = Promise.withResolvers<void>();
    h.memory.before = async ({ verb, ref }) => {
      if (verb === 'apply' && ref.kind === 'RoleBinding' && ref.namespace === 'b') await gate.promise;
    };
    h.policy('p', bindingPolicy({}, { subjects: [{ kind: 'User', name: 'x' }] }));
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    await h.clock.advance(1100);
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      status: 'False',
      reason: 'Reconciling',
      message: '1 namespace left to reconcile',
    });
    expect(h.condition('NamespacePolicy', 'p', 'Reconciling')).toMatchObject({ status: 'True' });
    gate.resolve();
    await h.settle();
    expect(history.at(-1)).toEqual([3, 3, 'Synced']);
    expect(h.condition('NamespacePolicy', 'p', 'Reconciling')).toBeUndefined();
  });

  test('lastTransitionTime changes with the status of a condition, not with reason or message', async () => {
    const h = await begun();
    const before = h.condition('NamespacePolicy', 'p')?.['lastTransitionTime'];
    await h.clock.advance(60_000);
    h.namespace('d', team);
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      message: '4 objects are in sync',
      lastTransitionTime: before,
    });
  });

  test('the status lists the first twenty failures, by namespace', async () => {
    const h = harness();
    const names = Array.from({ length: 30 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    for (const name of names) {
      h.namespace(name, team);
      h.memory.put({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'devs', namespace: name },
        roleRef: {},
      });
    }
    h.policy('p', bindingPolicy());
    h.start();
    await h.settle();
    const { failures, conflicts } = h.status('NamespacePolicy', 'p');
    expect([conflicts, (failures as { namespace: string }[]).map(({ namespace }) => namespace)]).toEqual([
      30,
      names.slice(0, 20),
    ]);
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      message: expect.stringContaining('first RoleBinding devs in namespace n00: ') as string,
    });
  });

  test('no status is written before the initial sync is done', async () => {
    const h = harness();
    for (const name of ['a', 'b']) h.namespace(name, team);
    h.policy('p', bindingPolicy());
    const gate = Promise.withResolvers<void>();
    h.memory.before = async ({ verb, ref }) => {
      if (verb === 'apply' && ref.namespace === 'b') await gate.promise;
    };
    h.start();
    await h.clock.advance(5000);
    expect([h.reconciler.health().isInitialSyncDone, h.status('NamespacePolicy', 'p')]).toEqual([false, {}]);
    gate.resolve();
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ synced: 2 });
  });

  test('a status that another client wrote is corrected', async () => {
    const h = await begun();
    h.memory.change(refTo('NamespacePolicy', 'p'), { spec: { maxDeletions: 5 } });
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ synced: 3, observedGeneration: 2 });
  });

  test('the status is written after a conflict with a change of the policy', async () => {
    const h = await begun();
    let conflicts = 2;
    h.memory.fault = (verb, { kind }) => {
      if (verb !== 'patch' || kind !== 'NamespacePolicy' || conflicts === 0) return undefined;
      conflicts -= 1;
      return failure(409);
    };
    h.namespace('d', team);
    await h.settle();
    expect([conflicts, h.status('NamespacePolicy', 'p')['synced']]).toEqual([0, 4]);
  });
});

describe('the condition Expensive', () => {
  const square = 'lists.range(210).all(x, lists.range(210).all(y, x + y >= 0))';
  const matching = (expression: string, rest: object = {}) => ({
    match: { names: ['a', 'b'], matchConditions: [{ name: 'c', expression }] },
    ...rest,
  });
  const quota = quotaOf(undefined, { labels: { x: `\${${square} ? 'a' : 'b'}` } });
  const rule = { name: 'r', expression: square, message: 'm' };

  test.each([
    ['match, though it is false', matching(`!${square}`)],
    ['rules', matching('true', { validations: [rule] })],
    ['contents', matching('true', { contents: { resources: [quota] } })],
  ])('the status names a policy with expensive %s, with its cost, until it is cheap', async (_, spec) => {
    const h = await begun(matching('true'), ['a']);
    expect(h.condition('NamespacePolicy', 'p', 'Expensive')).toBeUndefined();
    h.policy('p', spec);
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p', 'Expensive')).toMatchObject({
      status: 'True',
      reason: 'CostsTooMuch',
      message: expect.stringMatching(
        /^this policy costs 44\d,\d{3} units in namespace a, of the 2,500,000 units .*cheaper$/,
      ) as string,
    });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
    h.policy('p', matching('true'));
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p', 'Expensive')).toBeUndefined();
  });

  test('the status names a policy that becomes expensive through a new namespace, until that is deleted', async () => {
    const h = await begun(matching(`namespaceObject.metadata.name == "b" && !${square}`), ['a']);
    expect(h.condition('NamespacePolicy', 'p', 'Expensive')).toBeUndefined();
    h.namespace('b', team);
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p', 'Expensive')?.['message']).toMatch(/ units in namespace b, /);
    h.memory.delete(refTo('Namespace', 'b'));
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p', 'Expensive')).toBeUndefined();
  });
});
