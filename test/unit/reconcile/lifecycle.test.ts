import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { bindingPolicy, quotaPolicy, shareOf, team } from '../../support/provided.ts';
import { failure } from '../../support/memory-objects.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

async function everything(): Promise<Harness> {
  const h = harness();
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { k: 'v' });
  for (const name of ['a', 'b', 'c']) h.namespace(name, team);
  h.policy('p', bindingPolicy());
  h.policy('q', quotaPolicy());
  h.policy('conflicting', bindingPolicy({}, { subjects: [{ kind: 'Group', name: 'others' }] }));
  h.share('s', shareOf());
  h.start();
  await h.settle();
  h.takeWrites();
  return h;
}

test('a restart with nothing to do writes nothing, and reads no Secret by itself', async () => {
  const h = await everything();
  await h.stop();
  h.memory.reads = 0;
  h.start();
  await h.settle();
  expect(h.takeWrites()).toEqual([]);
  // The source, and the status of each of four providers.
  expect(h.memory.reads).toBeLessThanOrEqual(5);
});

test('a restart with nothing to do writes nothing however late events arrive', async () => {
  const h = await everything();
  await h.stop();
  h.memory.isLagging = true;
  h.start();
  await h.settle();
  expect(h.takeWrites()).toEqual([]);
});

test('a restart catches up with the changes of its downtime', async () => {
  const h = await everything();
  await h.stop();
  h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
  h.memory.change(refTo('Secret', 'regcred', 'b'), { data: { x: 'eA==' } });
  h.secret('reeve-shared', 'regcred', { k: 'w' });
  h.memory.delete(refTo('NamespacePolicy', 'q'));
  h.namespace('d', team);
  h.start();
  await h.settle();
  expect(h.memory.list('RoleBinding')).toHaveLength(4);
  expect(h.memory.list('ResourceQuota')).toEqual([]);
  expect(h.memory.list('Secret', 'b').map(({ data }) => data)).toEqual([{ k: btoa('w') }]);
  expect(h.get('NamespacePolicy', 'q')).toBeUndefined();
});

test('a restart without the list of our Secrets reads each copy, and writes nothing', async () => {
  const h = await everything();
  await h.stop();
  h.memory.fault = (verb) => (verb === 'list' ? failure(500) : undefined);
  h.start();
  await h.settle();
  expect(h.takeWrites()).toEqual([]);
});

describe('a process without the lead', () => {
  test('a standby writes nothing, and writes at once when it becomes the leader', async () => {
    const h = await everything();
    await h.stop();
    h.namespace('d', team);
    await h.clock.advance(1000);
    expect(h.takeWrites()).toEqual([]);
    h.rerun();
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'd')).toBeDefined();
    expect(h.takeWrites().filter(({ namespace }) => namespace !== 'd' && namespace !== '')).toEqual([]);
  });

  test('a leader aborts its requests when it loses the lead', async () => {
    const h = await everything();
    const signals: AbortSignal[] = [];
    h.memory.before = async ({ verb, signal }) => {
      if (verb !== 'apply' || signal === undefined) return;
      signals.push(signal);
      await once(signal, 'abort');
    };
    h.namespace('d', team);
    await h.clock.advance(100);
    await h.stop();
    expect(signals.map(({ aborted }) => aborted)).toContain(true);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });
});

describe('the finalizer of a provider', () => {
  test('the finalizer is added before the first object is created', async () => {
    const h = harness();
    h.namespace('a', team);
    h.policy('p', bindingPolicy());
    h.policy('rules', { match: {} });
    h.start();
    await h.settle();
    const kinds = h.takeWrites().map(({ kind, subresource }) => `${kind}${subresource}`);
    expect(kinds.indexOf('NamespacePolicy')).toBeLessThan(kinds.indexOf('RoleBinding'));
    expect(kinds.indexOf('NamespacePolicy')).toBeGreaterThanOrEqual(0);
    expect(h.get('NamespacePolicy', 'p')?.metadata['finalizers']).toEqual(['reeve.dev/cleanup']);
    expect(h.get('NamespacePolicy', 'rules')?.metadata).not.toHaveProperty('finalizers');
  });

  test('many namespaces add the finalizer once, and finalizers of others stay', async () => {
    const h = harness();
    for (let index = 0; index < 30; index += 1) h.namespace(`n${index}`, team);
    h.memory.put({
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'NamespacePolicy',
      metadata: { name: 'p', finalizers: ['example.com/x'] },
      spec: { deletionPolicy: 'Delete', maxDeletions: 100, suspend: false, ...bindingPolicy() },
    });
    h.memory.latency = () => 2;
    h.start();
    await h.settle();
    expect(h.get('NamespacePolicy', 'p')?.metadata['finalizers']).toEqual([
      'example.com/x',
      'reeve.dev/cleanup',
    ]);
    expect(
      h.takeWrites().filter(({ kind, subresource }) => kind === 'NamespacePolicy' && subresource === ''),
    ).toHaveLength(1);
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect(h.get('NamespacePolicy', 'p')?.metadata['finalizers']).toEqual(['example.com/x']);
    expect(h.memory.list('RoleBinding')).toEqual([]);
  });

  test('a removed finalizer is added again', async () => {
    const h = await everything();
    h.memory.change(refTo('NamespacePolicy', 'p'), { metadata: { finalizers: null } });
    await h.settle();
    expect(h.get('NamespacePolicy', 'p')?.metadata['finalizers']).toEqual(['reeve.dev/cleanup']);
  });

  test('a missing source and missing namespaces do not keep the finalizer', async () => {
    const h = await everything();
    h.memory.delete(refTo('Secret', 'regcred', 'reeve-shared'));
    for (const name of ['a', 'b', 'c']) {
      h.memory.delete(refTo('Namespace', name));
      h.memory.finishNamespace(name);
    }
    h.memory.delete(refTo('SecretShare', 's'));
    await h.settle();
    expect(h.get('SecretShare', 's')).toBeUndefined();
  });

  test('no object is created for a provider that is deleted before the finalizer is added', async () => {
    const h = harness();
    h.namespace('a', team);
    h.start();
    await h.settle();
    h.memory.isLagging = true;
    h.policy('p', bindingPolicy());
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect(h.memory.list('RoleBinding')).toEqual([]);
  });

  test('an object of an unknown provider is released', async () => {
    const h = await everything();
    h.memory.change(refTo('NamespacePolicy', 'q'), { metadata: { finalizers: null } });
    h.memory.delete(refTo('NamespacePolicy', 'q'));
    await h.settle();
    expect(h.get('ResourceQuota', 'team', 'a')?.metadata).toMatchObject({ labels: {}, annotations: {} });
  });
});

test('a namespace that is being deleted gets its condition and no other write, and does not count', async () => {
  const h = await everything();
  h.memory.delete(refTo('Namespace', 'a'));
  h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
  await h.settle();
  const writes = h.takeWrites().filter(({ namespace, name }) => namespace === 'a' || name === 'a');
  expect(writes).toEqual([expect.objectContaining({ name: 'a', subresource: 'status' })]);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ conflicts: 2, matched: 2 });
  expect(h.status('SecretShare', 's')).toMatchObject({ desired: 2, synced: 2 });
});

test('a namespace that is created again gets all its objects', async () => {
  const h = await everything();
  h.memory.delete(refTo('Namespace', 'a'));
  h.memory.finishNamespace('a');
  h.namespace('a', team);
  await h.settle();
  expect(['RoleBinding', 'ResourceQuota', 'Secret'].map((kind) => h.memory.list(kind, 'a').length)).toEqual([
    1, 1, 1,
  ]);
});

const widget = { apiVersion: 'example.com/v1', kind: 'Widget' };

test('an unserved kind delays no other object, and its objects are created when it is served', async () => {
  const h = harness({ install: { resourceKinds: [widget] } }, undefined, { unserved: ['Widget'] });
  h.namespace('a', team);
  h.policy(
    'p',
    bindingPolicy({ contents: { resources: [{ ...widget, metadata: { name: 'w' } }], roleBindings: [] } }),
  );
  h.policy('q', bindingPolicy());
  h.start();
  await h.settle();
  expect(h.memory.list('RoleBinding')).toHaveLength(1);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    failures: [{ kind: 'Widget', reason: 'KindUnavailable' }],
  });
  h.serve('Widget');
  await h.settle();
  expect(h.memory.list('Widget')).toHaveLength(1);
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
});

test('health reports the initial sync and the waiting namespaces', async () => {
  const h = harness();
  h.memory.isLagging = true;
  h.namespace('a', team);
  h.start();
  expect(h.reconciler.health()).toMatchObject({ isSynced: false, isInitialSyncDone: false, queued: 0 });
  await h.settle();
  expect(h.reconciler.health()).toMatchObject({
    isSynced: true,
    isInitialSyncDone: true,
    queued: 0,
    running: 0,
    oldestUnreconciledMs: 0,
  });
  h.memory.fault = (verb) => (verb === 'apply' ? failure(500) : undefined);
  h.policy('p', bindingPolicy());
  await h.settle(100);
  await h.clock.advance(2000);
  expect(h.reconciler.health().oldestUnreconciledMs).toBeGreaterThanOrEqual(1000);
});

test('a resync reconciles everything and writes nothing', async () => {
  const h = await everything();
  // No watch reports anything from here on.
  h.memory.isLagging = true;
  await h.clock.advance(605_000);
  await h.quiet();
  expect(h.takeWrites()).toEqual([]);
});
