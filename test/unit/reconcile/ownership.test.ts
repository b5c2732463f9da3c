import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { adoptLabel } from '../../../src/schema/names.ts';
import { failure } from '../../support/memory-objects.ts';
import {
  bindingPolicy,
  ours,
  quotaOf,
  quotaPolicy,
  shareOf,
  settledBeside,
  settledWith,
  strangersBinding,
  team,
  teams,
} from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

const withPolicy = (spec: object, namespaces: readonly string[] = ['a']): Promise<Harness> =>
  settledWith(harness(), spec, namespaces);

describe("a stranger's object", () => {
  test("a stranger's object is a conflict: reported and left alone", async () => {
    const h = await settledBeside(harness(), strangersBinding());
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({
      subjects: [{ name: 'them' }],
      metadata: expect.not.objectContaining({ labels: expect.anything() as unknown }) as unknown,
    });
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      desired: 1,
      synced: 0,
      conflicts: 1,
      failures: [{ namespace: 'a', kind: 'RoleBinding', name: 'devs', reason: 'AlreadyExists' }],
    });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'False', reason: 'Conflicts' });
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({
      status: 'False',
      reason: 'AlreadyExists',
    });
    expect(
      h.told.events
        .filter(({ type }) => type === 'Warning')
        .map(({ regarding, reason }) => [regarding.kind, regarding.namespace, reason]),
    ).toEqual([
      ['RoleBinding', 'a', 'AlreadyExists'],
      ['Namespace', 'a', 'AlreadyExists'],
      ['NamespacePolicy', undefined, 'AlreadyExists'],
    ]);
  });

  test("a stranger's object is adopted when it is offered", async () => {
    const h = await settledBeside(harness(), strangersBinding());
    h.memory.change(refTo('RoleBinding', 'devs', 'a'), { metadata: { labels: { [adoptLabel]: 'true' } } });
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({ ...ours, subjects: [{ name: 'devs' }] });
    expect(h.told.events.at(-1)).toMatchObject({ reason: 'Adopted' });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
  });

  test('an adopted object keeps no fields of its previous owner, also after an interrupted adoption', async () => {
    const h = harness();
    h.namespace('a', team);
    const spec = { hard: { pods: '50', secrets: '5' }, scopes: ['BestEffort'] };
    h.memory.put(quotaOf(spec, { namespace: 'a', labels: { [adoptLabel]: 'true', x: 'y' } }) as KubeObject);
    h.policy('p', quotaPolicy({ hard: { pods: '5' } }));
    let faults = 0;
    h.memory.fault = (verb, { kind }) =>
      verb === 'apply' && kind === 'ResourceQuota' && ++faults <= 3 ? failure(500) : undefined;
    h.start();
    await h.settle(10_000);
    expect(faults).toBeGreaterThan(3);
    const quota = h.get('ResourceQuota', 'team', 'a');
    expect(quota).toMatchObject({ ...ours, spec: { hard: { pods: '5' } } });
    expect(quota?.['spec']).toEqual({ hard: { pods: '5' } });
    expect(quota?.metadata.labels).toMatchObject({ x: 'y' });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
  });

  test('an adopted object is given back, not deleted, and the event says what stays', async () => {
    const h = await settledBeside(
      harness(),
      strangersBinding({ labels: { [adoptLabel]: 'true', team: 'a' } }),
    );
    const adopted = h.get('RoleBinding', 'devs', 'a');
    expect(adopted?.metadata.annotations).toMatchObject({ 'reeve.dev/adopted': 'true' });
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    const after = h.get('RoleBinding', 'devs', 'a');
    expect(after?.metadata).toMatchObject({ uid: adopted?.metadata.uid });
    expect([after?.metadata.labels, after?.metadata.annotations, after?.['subjects']]).toEqual([
      { [adoptLabel]: 'true', team: 'a' },
      undefined,
      undefined,
    ]);
    expect(h.told.events.find(({ reason }) => reason === 'Released')?.note).toBe(
      'Released RoleBinding devs for NamespacePolicy/p: existed before Reeve, so not deleted; still there of what Reeve wrote: roleRef',
    );
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
  });

  test.each([1, 2, 3])('an adopted object is given back though request %i fails', async (number) => {
    const h = await settledBeside(harness(), strangersBinding({ labels: { [adoptLabel]: 'true' } }));
    let requests = 0;
    h.memory.fault = (verb, { kind }) =>
      kind === 'RoleBinding' && verb !== 'delete' && ++requests === number ? failure(500) : undefined;
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle(10_000);
    const { metadata, subjects } = h.get('RoleBinding', 'devs', 'a') ?? { metadata: {} };
    expect([metadata.labels, metadata.annotations, subjects]).toEqual([
      { [adoptLabel]: 'true' },
      undefined,
      undefined,
    ]);
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
  });

  test('an object with a controller is not adopted', async () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u', controller: true }];
    const h = await settledBeside(
      harness(),
      strangersBinding({ labels: { [adoptLabel]: 'true' }, ownerReferences }),
    );
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ conflicts: 1 });
  });

  test("our object is created when the stranger's object is deleted", async () => {
    const h = await settledBeside(harness(), strangersBinding());
    h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject(ours);
  });

  test("a stranger's object that no watch has reported is not overwritten", async () => {
    const h = harness();
    h.namespace('a', team);
    h.start();
    await h.settle();
    h.memory.isLagging = true;
    h.policy('p', bindingPolicy());
    // The event of the policy arrives before the event of the object.
    h.memory.put(strangersBinding());
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({
      subjects: [{ name: 'them' }],
      metadata: expect.not.objectContaining({ labels: expect.anything() as unknown }) as unknown,
    });
  });
});

describe('the ServiceAccount default', () => {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  const spec = {
    match: { namespaceSelector: { matchLabels: team } },
    contents: { resources: [{ ...account, automountServiceAccountToken: false }] },
  };
  const made = (more: object = {}): KubeObject => ({
    ...account,
    metadata: { name: 'default', namespace: 'a', ...more },
  });

  async function withPolicyOnly(): Promise<Harness> {
    const h = harness({ install: { resourceKinds: [{ apiVersion: 'v1', kind: 'ServiceAccount' }] } });
    h.policy('p', spec);
    h.start();
    await h.settle();
    h.namespace('a', team);
    return h;
  }

  test('Reeve waits until Kubernetes has created it, without a warning', async () => {
    const h = await withPolicyOnly();
    await h.settle(100);
    expect(h.get('ServiceAccount', 'default', 'a')).toBeUndefined();
    h.memory.put(made());
    await h.settle();
    expect(h.get('ServiceAccount', 'default', 'a')).toMatchObject({
      ...ours,
      automountServiceAccountToken: false,
    });
    expect(h.told.events.filter(({ type }) => type === 'Warning')).toEqual([]);
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect(h.get('ServiceAccount', 'default', 'a')).not.toHaveProperty('automountServiceAccountToken');
  });

  test('the status says so when Kubernetes does not create it', async () => {
    const h = await withPolicyOnly();
    await h.settle(5000);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failures: [{ reason: 'NotCreatedYet' }] });
  });

  test('one that a user has changed is a conflict', async () => {
    const h = await withPolicyOnly();
    h.memory.put(made({ labels: { team: 'a' } }));
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failures: [{ reason: 'AlreadyExists' }] });
  });
});

describe('two policies with the same object', () => {
  const sequences = [
    ['+p', '+q', '-p', '-q'],
    ['+p', '+q', '-q', '-p'],
    ['+q', '+p', '-p', '-q'],
    ['+q', '+p', '-q', '-p'],
    ['+p', '+q', '-p', '+p', '-q', '-p'],
  ];

  test.each(sequences.map((steps) => [steps.join(' '), steps] as const))(
    '%s: the object exists while one of the policies does',
    async (_name, steps) => {
      const h = harness();
      h.namespace('a', team);
      h.start();
      const present = new Set<string>();
      for (const step of steps) {
        const name = step.slice(1);
        if (step.startsWith('+')) {
          h.policy(name, bindingPolicy());
          present.add(name);
        } else {
          h.memory.delete(refTo('NamespacePolicy', name));
          present.delete(name);
        }
        h.takeWrites();
        await h.settle();
        const [first] = [...present].sort();
        const deletions = h
          .takeWrites()
          .filter(({ verb, kind }) => verb === 'delete' && kind === 'RoleBinding');
        expect(deletions).toHaveLength(present.size === 0 ? 1 : 0);
        expect(h.get('RoleBinding', 'devs', 'a')?.metadata.annotations?.['reeve.dev/owner']).toBe(
          first === undefined ? undefined : `NamespacePolicy/${first}`,
        );
      }
      expect(h.memory.list('NamespacePolicy')).toEqual([]);
    },
  );

  test('the first policy by name owns the object, and the other one reports it', async () => {
    const h = harness();
    h.namespace('a', team);
    h.policy('p', bindingPolicy());
    const roleRef = { kind: 'ClusterRole', name: 'view' };
    h.policy('q', bindingPolicy({}, { roleRef, expiresAfter: '8h' }));
    h.start();
    await h.settle();
    const message =
      'NamespacePolicy/p already provides it, with different expiry, roleRef; make both the same, or rename or remove one';
    expect(h.status('NamespacePolicy', 'q')).toMatchObject({
      conflicts: 1,
      failures: [{ reason: 'ProvidedByAnother', message }],
    });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({
      status: 'False',
      reason: 'ProvidedByAnother',
      message: `RoleBinding devs of NamespacePolicy/q: ${message}`,
    });
    h.policy('q', bindingPolicy());
    await h.settle();
    expect(h.condition('NamespacePolicy', 'q')).toMatchObject({ status: 'True', reason: 'Synced' });
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
  });

  test('two policies that want the same object are both satisfied, or both not', async () => {
    const h = harness();
    h.namespace('a', team);
    for (const name of ['p', 'q']) h.policy(name, bindingPolicy());
    let isRefused = true;
    h.memory.fault = (_verb, { kind }) => (isRefused && kind === 'RoleBinding' ? failure(403) : undefined);
    h.start();
    await h.settle();
    expect(h.status('NamespacePolicy', 'q')).toMatchObject({
      failed: 1,
      failures: [{ message: expect.stringMatching(/^NamespacePolicy\/p provides the same: /) as string }],
    });
    isRefused = false;
    await h.settle(60_000);
    for (const name of ['p', 'q']) {
      expect(h.status('NamespacePolicy', name)).toMatchObject({ desired: 1, synced: 1, failed: 0 });
      expect(h.condition('NamespacePolicy', name)).toMatchObject({ status: 'True', reason: 'Synced' });
    }
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
    expect(h.memory.list('RoleBinding')).toHaveLength(1);
  });

  test.each<readonly [string, object, string]>([
    ['both satisfied, if they copy the same keys', { target: { type: 'Opaque' } }, 'True Synced'],
    [
      'in conflict, if they name the keys differently',
      { target: { keys: [{ from: 'k', to: 'l' }] } },
      'False Conflicts',
    ],
    ['in conflict, if only one copy is immutable', { target: { immutable: true } }, 'False Conflicts'],
  ])('two shares of one source are %s', async (_what, other, expected) => {
    const h = harness();
    h.namespace('reeve-shared');
    h.namespace('a', team);
    h.secret('reeve-shared', 'regcred', { k: 'v' });
    h.share('s', shareOf());
    h.share('t', shareOf(other));
    h.start();
    await h.settle();
    const { status, reason } = h.condition('SecretShare', 't') ?? {};
    expect(`${String(status)} ${String(reason)}`).toBe(expected);
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')?.status).toBe(status);
  });
});

test('a suspended policy creates, changes and deletes nothing, and continues afterwards', async () => {
  const h = await withPolicy(bindingPolicy(), ['a', 'b']);
  h.policy('p', bindingPolicy({ suspend: true }));
  await h.settle();
  h.takeWrites();
  h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
  h.namespace('b', { tier: 'other' });
  h.namespace('c', team);
  await h.settle();
  expect(h.memory.list('RoleBinding').map(({ metadata }) => metadata.namespace)).toEqual(['b']);
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ reason: 'Suspended' });
  h.policy('p', bindingPolicy());
  await h.settle();
  expect(h.memory.list('RoleBinding').map(({ metadata }) => metadata.namespace)).toEqual(
    expect.arrayContaining(['a', 'c']),
  );
});

test('a suspended policy releases its objects when it is deleted', async () => {
  const h = await withPolicy(bindingPolicy({ suspend: true }));
  h.policy('p', bindingPolicy());
  await h.settle();
  h.policy('p', bindingPolicy({ suspend: true }));
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
  expect(h.get('RoleBinding', 'devs', 'a')?.metadata).toMatchObject({ labels: {}, annotations: {} });
});

test('an invalid policy leaves its objects alone and reports its problems', async () => {
  const h = await withPolicy(bindingPolicy());
  h.policy('p', { ...bindingPolicy(), match: { names: ['A B'] } });
  h.namespace('b', team);
  await h.settle();
  expect(h.memory.list('RoleBinding')).toHaveLength(1);
  expect(h.condition('NamespacePolicy', 'p', 'Stalled')).toMatchObject({
    status: 'True',
    reason: 'Invalid',
    message: expect.stringContaining('spec.match.names[0]') as string,
  });
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ matched: 1, synced: 1, observedGeneration: 2 });
});

test('with deletionPolicy Orphan, objects are released', async () => {
  const h = await withPolicy(bindingPolicy({ deletionPolicy: 'Orphan' }));
  h.namespace('a', { tier: 'other' });
  await h.settle();
  expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({
    metadata: { labels: {}, annotations: {} },
    subjects: [{ name: 'devs' }],
  });
});

test('an object that another policy refuses is not written, and the refusal is reported', async () => {
  const h = harness();
  h.namespace('a', team);
  h.policy('rules', { match: teams, rbac: { allowedRoleRefs: ['ClusterRole/view'] } });
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle();
  expect(h.memory.list('RoleBinding')).toEqual([]);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    failures: [
      {
        reason: 'RefusedByPolicy',
        message: expect.stringContaining('policy rules, rbac.allowedRoleRefs') as string,
      },
    ],
  });
  h.memory.delete(refTo('NamespacePolicy', 'rules'));
  await h.settle();
  expect(h.memory.list('RoleBinding')).toHaveLength(1);
});
