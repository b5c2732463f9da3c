import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bindingPolicy, shareOf, team, teams } from '../../support/provided.ts';
import { failure } from '../../support/memory-cluster.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

async function begun(
  spec: object = bindingPolicy(),
  namespaces: readonly string[] = ['a', 'b', 'c'],
): Promise<Harness> {
  const h = harness();
  for (const name of namespaces) h.namespace(name, team);
  h.policy('p', spec);
  h.start();
  await h.settle();
  return h;
}

/** Every status that the policy has had since, as its numbers and its Ready condition. */
function historyOf(h: Harness): unknown[] {
  const history: unknown[] = [];
  const { mergePatch } = h.memory;
  h.memory.mergePatch = async (ref, patch, options) => {
    const answer = await mergePatch.call(h.memory, ref, patch, options);
    if (options?.subresource === 'status') {
      const { desired, synced } = h.status('NamespacePolicy', 'p');
      history.push([desired, synced, h.condition('NamespacePolicy', 'p')?.['reason']]);
    }
    return answer;
  };
  return history;
}

describe('the status of a policy', () => {
  test('counts namespaces and objects, in the shape that its definition has', async () => {
    const h = await begun();
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'Synced' },
      { type: 'Reconciling', status: 'False' },
      { type: 'Stalled', status: 'False' },
    ];
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

  test('grows with a new namespace without a False in between', async () => {
    const h = await begun();
    const history = historyOf(h);
    h.namespace('d', team);
    await h.settle();
    expect(history).toEqual([[4, 4, 'Synced']]);
  });

  test('is written once for many changes', async () => {
    const h = await begun();
    const history = historyOf(h);
    for (let index = 0; index < 20; index += 1) h.namespace(`n${index}`, team);
    await h.settle();
    expect(history.at(-1)).toEqual([23, 23, 'Synced']);
    expect(history.length).toBeLessThanOrEqual(2);
  });

  test('says nothing of an object that was deleted and is back', async () => {
    const h = await begun();
    const history = historyOf(h);
    h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
    await h.settle();
    expect(history).toEqual([]);
  });

  test('of a new generation is written when all namespaces have been done', async () => {
    const h = await begun();
    const history = historyOf(h);
    h.policy('p', bindingPolicy({}, { subjects: [{ kind: 'User', name: 'x' }] }));
    await h.settle();
    expect(history).toEqual([[3, 3, 'Synced']]);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ observedGeneration: 2 });
  });

  test('says after a second that it is at work, and how much is left', async () => {
    const h = await begun();
    const history = historyOf(h);
    const gate = Promise.withResolvers<void>();
    const { apply } = h.memory;
    h.memory.apply = async (object, options) => {
      if (object.kind === 'RoleBinding' && object.metadata.namespace === 'b') await gate.promise;
      return await apply.call(h.memory, object, options);
    };
    h.policy('p', bindingPolicy({}, { subjects: [{ kind: 'User', name: 'x' }] }));
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    await h.virtual.advance(1100);
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      status: 'False',
      reason: 'Reconciling',
      message: '1 namespace still to be done',
    });
    expect(h.condition('NamespacePolicy', 'p', 'Reconciling')).toMatchObject({ status: 'True' });
    gate.resolve();
    await h.settle();
    expect(history.at(-1)).toEqual([3, 3, 'Synced']);
    expect(h.condition('NamespacePolicy', 'p', 'Reconciling')).toMatchObject({ status: 'False' });
  });

  test('turns only when it changes: reasons and messages keep the time', async () => {
    const h = await begun();
    const before = h.condition('NamespacePolicy', 'p')?.['lastTransitionTime'];
    await h.virtual.advance(60_000);
    h.namespace('d', team);
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      message: '4 objects are there and as they should be',
      lastTransitionTime: before,
    });
  });

  test('lists the first twenty failures, by namespace', async () => {
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
      message: expect.stringContaining('first in namespace n00: RoleBinding devs') as string,
    });
  });

  test('is not written before all namespaces have been looked at', async () => {
    const h = harness();
    for (const name of ['a', 'b']) h.namespace(name, team);
    h.policy('p', bindingPolicy());
    const gate = Promise.withResolvers<void>();
    const { apply } = h.memory;
    h.memory.apply = async (object, options) => {
      if (object.metadata.namespace === 'b') await gate.promise;
      return await apply.call(h.memory, object, options);
    };
    h.start();
    await h.virtual.advance(5000);
    expect([h.reconciler.health().hasPassed, h.status('NamespacePolicy', 'p')]).toEqual([false, {}]);
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toBeUndefined();
    gate.resolve();
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ synced: 2 });
  });

  test('is put right when somebody else writes it', async () => {
    const h = await begun();
    h.memory.change(refTo('NamespacePolicy', 'p'), { spec: { maxDeletions: 5 } });
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ synced: 3, observedGeneration: 2 });
  });

  test('survives a conflict with somebody who changes the policy at the same moment', async () => {
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

describe('violations of namespaces that are already there', () => {
  const rules = {
    match: { names: ['*'] },
    namespaces: {
      required: { labels: { team: { values: ['red'] } } },
      defaults: { annotations: { contact: 'nobody', by: '${request.userInfo.username}' } },
    },
    validations: [
      { name: 'short', expression: 'object.metadata.name.size() < 3' },
      { name: 'step', expression: 'oldObject == null || request.operation == "UPDATE"' },
    ],
  };

  test('are counted and listed', async () => {
    const h = harness();
    h.namespace('a', { team: 'red' }, { contact: 'x' });
    h.namespace('long-one', { team: 'blue' });
    h.policy('p', rules);
    h.start();
    await h.settle();
    const { topViolations, violations, matched } = h.status('NamespacePolicy', 'p');
    expect([matched, violations]).toEqual([2, 3]);
    expect(topViolations).toEqual([
      {
        namespace: 'long-one',
        rule: 'namespaces.required',
        path: 'metadata.labels["team"]',
        found: '"blue"',
        accepted: '"red"',
      },
      expect.objectContaining({
        namespace: 'long-one',
        rule: 'namespaces.defaults',
        path: 'metadata.annotations["contact"]',
        found: 'nothing',
      }),
      expect.objectContaining({ namespace: 'long-one', rule: 'validations/short' }),
    ]);
    h.namespace('long-one', { team: 'red' }, { contact: 'x' });
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 1 });
  });

  test('do not count where an exception lets the namespace off, until it ends', async () => {
    const h = harness();
    h.namespace('a', {}, { contact: 'x' });
    h.policy('p', {
      ...rules,
      exceptions: [{ namespaces: ['a'], rules: ['namespaces.required'], expiresAt: '2026-11-21T13:00:00Z' }],
    });
    h.start();
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 0 });
    await h.virtual.advance(3_700_000);
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 1 });
  });

  test('a quota that is exceeded is one of them', async () => {
    const h = harness();
    for (const name of ['a', 'b', 'c']) h.namespace(name, { team: 'red' });
    h.namespace('d', { team: 'blue' });
    h.policy('p', { match: { names: ['*'] }, namespaces: { quota: { label: 'team', max: 2 } } });
    h.start();
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      violations: 1,
      topViolations: [
        {
          namespace: 'a',
          rule: 'namespaces.quota',
          path: 'metadata.labels["team"]',
          found: '3 namespaces with "red"',
          accepted: 'at most 2 namespaces with one value',
        },
      ],
    });
    h.memory.delete(refTo('Namespace', 'b'));
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ matched: 3, violations: 0 });
  });
});

describe('existing: Repair', () => {
  const defaults = {
    labels: { env: 'dev', 'of-${x}': 'x' },
    annotations: { contact: '${namespaceObject.metadata.name}', by: '${request.userInfo.username}' },
  };
  const repairing = {
    match: teams,
    existing: 'Repair',
    namespaces: { defaults: { ...defaults, labels: { env: 'dev' } } },
  };

  test('adds what is missing, changes nothing, and takes nothing from a request', async () => {
    const h = harness();
    h.namespace('a', team);
    h.namespace('b', { ...team, env: 'prod' }, { contact: 'them' });
    h.namespace('c', {});
    h.policy('p', repairing);
    h.start();
    await h.settle();
    expect(h.get('Namespace', 'a')?.metadata).toMatchObject({
      labels: { env: 'dev' },
      annotations: { contact: 'a' },
    });
    expect(h.get('Namespace', 'a')?.metadata.annotations).not.toHaveProperty('by');
    expect(h.get('Namespace', 'b')?.metadata).toMatchObject({
      labels: { env: 'prod' },
      annotations: { contact: 'them' },
    });
    expect(h.get('Namespace', 'c')?.metadata.annotations).toBeUndefined();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 0 });
  });

  test.each<readonly [string, object]>([
    ['existing is Report', { existing: 'Report' }],
    ['it is suspended', { suspend: true }],
    [
      'an exception lets the namespace off',
      { exceptions: [{ namespaces: ['a'], rules: ['namespaces.defaults'] }] },
    ],
    [
      'the match has an error',
      {
        match: {
          matchConditions: [{ name: 'c', expression: "namespaceObject.metadata.annotations['x'] == 'y'" }],
        },
      },
    ],
    [
      'the default breaks a rule of the policy',
      {
        namespaces: {
          defaults: { labels: { env: '${namespaceObject.metadata.name}' } },
          required: { labels: { env: { values: ['prod'] } } },
        },
      },
    ],
  ])('not where %s', async (_what, fields) => {
    const h = await begun({ ...repairing, ...fields }, ['a']);
    expect(h.get('Namespace', 'a')?.metadata.labels).not.toHaveProperty('env');
  });

  test('is reported where it may not be done', async () => {
    const h = harness();
    h.namespace('a', team);
    h.policy('p', repairing);
    h.memory.fault = (verb, { kind }) =>
      verb === 'patch' && kind === 'Namespace' ? failure(403) : undefined;
    h.start();
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      failed: 1,
      failures: [{ namespace: 'a', kind: 'Namespace', name: 'a', reason: 'InsufficientPermissions' }],
    });
  });
});

describe('the condition reeve.dev/Ready of a namespace', () => {
  const readyOf = (h: Harness, name: string) => h.condition('Namespace', name, 'reeve.dev/Ready');

  test('is there on all that are not excluded, beside those of others', async () => {
    const h = harness();
    h.namespace('kube-system');
    h.namespace('a');
    h.memory.change(refTo('Namespace', 'a'), {
      status: { conditions: [{ type: 'Theirs', status: 'True' }] },
    });
    h.start();
    await h.settle();
    expect(readyOf(h, 'kube-system')).toBeUndefined();
    expect(readyOf(h, 'a')).toMatchObject({ status: 'True', reason: 'NothingProvided' });
    expect(h.condition('Namespace', 'a', 'Theirs')).toBeUndefined();
  });

  test('names the first thing that is missing, and costs one write when it is there', async () => {
    const h = harness();
    h.namespace('reeve-shared');
    h.namespace('a', team);
    h.share('s', shareOf());
    h.start();
    await h.settle();
    expect(readyOf(h, 'a')).toMatchObject({
      status: 'False',
      reason: 'SourceMissing',
      message: 'Secret regcred of SecretShare/s: there is no Secret reeve-shared/regcred',
    });
    h.takeWrites();
    h.secret('reeve-shared', 'regcred', { k: 'v' });
    await h.settle();
    expect(readyOf(h, 'a')).toMatchObject({ status: 'True', reason: 'Synced' });
    expect(h.takeWrites().filter(({ kind }) => kind === 'Namespace')).toHaveLength(1);
  });

  test('is not written again because there is one more object', async () => {
    const h = await begun();
    h.takeWrites();
    h.policy('q', bindingPolicy({}, { name: 'more' }));
    await h.settle();
    expect(h.takeWrites().filter(({ kind }) => kind === 'Namespace')).toEqual([]);
  });

  test('comes anew when the namespace has been deleted and made again', async () => {
    const h = await begun();
    h.memory.delete(refTo('Namespace', 'a'));
    await h.settle();
    h.memory.finishNamespace('a');
    h.namespace('a', team);
    await h.settle();
    expect(readyOf(h, 'a')).toMatchObject({ status: 'True', reason: 'Synced' });
    expect(h.get('RoleBinding', 'devs', 'a')).toBeDefined();
  });
});
