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
  h.policy('conflicting', bindingPolicy());
  h.share('s', shareOf());
  h.start();
  await h.settle();
  h.takeWrites();
  return h;
}

describe('a restart', () => {
  test('with nothing to do writes nothing, and reads no Secret one by one', async () => {
    const h = await everything();
    await h.stop();
    h.memory.reads = 0;
    h.start();
    await h.settle();
    expect(h.takeWrites()).toEqual([]);
    // The source, and the status of each of four owners.
    expect(h.memory.reads).toBeLessThanOrEqual(5);
  });

  test('with nothing to do writes nothing however slowly the news comes', async () => {
    const h = await everything();
    await h.stop();
    h.memory.isLagging = true;
    h.start();
    await h.settle();
    expect(h.takeWrites()).toEqual([]);
  });

  test('catches up with what happened meanwhile', async () => {
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

  test('without the list of our Secrets reads each of them, and writes nothing either', async () => {
    const h = await everything();
    await h.stop();
    h.memory.fault = (verb) => (verb === 'list' ? failure(500) : undefined);
    h.start();
    await h.settle();
    expect(h.takeWrites()).toEqual([]);
  });
});

describe('who has not the lead', () => {
  test('writes nothing, and does at once what is to be done when it is taken', async () => {
    const h = await everything();
    await h.stop();
    h.namespace('d', team);
    await h.virtual.advance(1000);
    expect(h.takeWrites()).toEqual([]);
    h.rerun();
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'd')).toBeDefined();
    expect(h.takeWrites().filter(({ namespace }) => namespace !== 'd' && namespace !== '')).toEqual([]);
  });

  test('breaks off what it is at when the lead is lost', async () => {
    const h = await everything();
    const signals: AbortSignal[] = [];
    h.memory.before = async ({ verb, signal }) => {
      if (verb !== 'apply' || signal === undefined) return;
      signals.push(signal);
      await once(signal, 'abort');
    };
    h.namespace('d', team);
    await h.virtual.advance(100);
    await h.stop();
    expect(signals.map(({ aborted }) => aborted)).toContain(true);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });
});

describe('the finalizer of an owner', () => {
  test('stands before its first object', async () => {
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

  test('is asked for once by many namespaces at a time, and beside those of others', async () => {
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

  test('is put back when somebody takes it off', async () => {
    const h = await everything();
    h.memory.change(refTo('NamespacePolicy', 'p'), { metadata: { finalizers: null } });
    await h.settle();
    expect(h.get('NamespacePolicy', 'p')?.metadata['finalizers']).toEqual(['reeve.dev/cleanup']);
  });

  test('does not hold an owner whose source or namespaces are gone', async () => {
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

  test('nothing is made for an owner that is gone before it could be put on', async () => {
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

  test('an object of an owner that nobody knows loses our marks', async () => {
    const h = await everything();
    h.memory.change(refTo('NamespacePolicy', 'q'), { metadata: { finalizers: null } });
    h.memory.delete(refTo('NamespacePolicy', 'q'));
    await h.settle();
    expect(h.get('ResourceQuota', 'team', 'a')?.metadata).toMatchObject({ labels: {}, annotations: {} });
  });
});

describe('a namespace that goes', () => {
  test('is left alone, and does not count', async () => {
    const h = await everything();
    h.memory.delete(refTo('Namespace', 'a'));
    h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
    await h.settle();
    expect(h.takeWrites().filter(({ namespace, name }) => namespace === 'a' || name === 'a')).toEqual([]);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ conflicts: 2, matched: 2 });
    expect(h.status('SecretShare', 's')).toMatchObject({ desired: 2, synced: 2 });
  });

  test('and comes again gets everything anew', async () => {
    const h = await everything();
    h.memory.delete(refTo('Namespace', 'a'));
    h.memory.finishNamespace('a');
    h.namespace('a', team);
    await h.settle();
    expect(['RoleBinding', 'ResourceQuota', 'Secret'].map((kind) => h.memory.list(kind, 'a').length)).toEqual(
      [1, 1, 1],
    );
  });
});

describe('a kind that the cluster does not serve', () => {
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget' };

  test('keeps nothing else from being done, and is made when it is served', async () => {
    const h = harness({ allowedKinds: [widget] }, undefined, { unserved: ['Widget'] });
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
});

test('health tells of the first pass and of what waits', async () => {
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
  await h.virtual.advance(2000);
  expect(h.reconciler.health().oldestUnreconciledMs).toBeGreaterThanOrEqual(1000);
});

test('everything is looked at again now and then, and nothing written', async () => {
  const h = await everything();
  // Something that no watch has told of.
  h.memory.isLagging = true;
  await h.virtual.advance(605_000);
  await h.quiet();
  expect(h.takeWrites()).toEqual([]);
});
