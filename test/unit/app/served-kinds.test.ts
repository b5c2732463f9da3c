// Tests when the API server is asked for the kinds of security engines, and what its answers change.
import { anyInstall } from '../../../src/policy/terms/install.ts';
import { expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { definitionUid, RemovedIntents, ServedKinds } from '../../../src/app/served-kinds.ts';
import type { Discovery } from '../../../src/kube/object-writer.ts';
import type { IntentAdapter } from '../../../src/policy/intents/adapter.ts';
import { LiveCluster } from '../../../src/state/live-cluster.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const engine = { apiVersion: 'engine.example.com/v1', kind: 'Rule' };
const other = { apiVersion: 'other.example.com/v1', kind: 'Guard' };

function adapterOf(id: string, needs: IntentAdapter['needs']): IntentAdapter {
  return { id, needs, provides: needs, supports: () => false, render: () => ({}) };
}

function binding(version: string, spec: object): KubeObject {
  const metadata = { namespace: 'shop', name: 'b', uid: 'u', resourceVersion: version };
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecurityIntentBinding', metadata, spec };
}

/** Each group version has its kinds, or does not answer. */
async function started(served: Map<string, readonly string[] | undefined>) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const cached = new Map<string, readonly string[]>();
  const discovery: Discovery = {
    refresh: async (apiVersion) => {
      asked.push(apiVersion);
      const kinds = served.get(apiVersion);
      if (kinds === undefined)
        throw new KubeError({ code: 503, reason: 'ServiceUnavailable', retryable: true });
      cached.set(apiVersion, kinds);
      await Promise.resolve();
    },
    find: (apiVersion, kind) =>
      Promise.resolve(
        cached.get(apiVersion)?.includes(kind) === true ? { plural: 'x', namespaced: true } : undefined,
      ),
  };
  const cluster = new LiveCluster({
    install: anyInstall,
    adapters: [adapterOf('one', [engine]), adapterOf('two', [other]), adapterOf('three', [])],
  });
  const abort = new AbortController();
  const kinds = new ServedKinds({ cluster, discovery, clock });
  const ended = kinds.run(abort.signal);
  await clock.settle();
  return {
    clock,
    cluster,
    /** The group versions that were asked for since the last call. */
    news: () => asked.splice(0),
    isServed: () => [engine, other].map((type) => cluster.snapshot().isServed(type)),
    stop: async () => {
      abort.abort();
      await ended;
    },
  };
}

const all = [engine.apiVersion, other.apiVersion];

test('each group version is asked for once at the start, and not again without a binding', async () => {
  const t = await started(new Map(all.map((version) => [version, []])));
  expect(t.news()).toEqual(all);
  await t.clock.advance(60_000);
  expect(t.news()).toEqual([]);
  await t.stop();
});

test('while a binding exists, the kinds are asked for every ten seconds', async () => {
  const t = await started(new Map(all.map((version) => [version, []])));
  t.cluster.sinks.SecurityIntentBinding.changed(binding('1', { intents: ['a'] }));
  await t.clock.advance(1000);
  t.news();
  await t.clock.advance(30_000);
  expect(t.news()).toEqual([...all, ...all, ...all]);
  await t.stop();
});

test('the kinds are asked for soon after a binding is written, and not after its status is written', async () => {
  const t = await started(new Map(all.map((version) => [version, []])));
  t.news();
  t.cluster.sinks.SecurityIntentBinding.changed(binding('1', { intents: ['a'] }));
  await t.clock.advance(1000);
  expect(t.news()).toEqual(all);
  t.cluster.sinks.SecurityIntentBinding.changed({
    ...binding('2', { intents: ['a'] }),
    status: { matched: 1 },
  });
  await t.clock.advance(2000);
  expect(t.news()).toEqual([]);
  t.cluster.sinks.SecurityIntentBinding.changed(binding('3', { intents: ['b'] }));
  await t.clock.advance(1);
  expect(t.news()).toEqual(all);
  await t.stop();
});

test('a kind counts as not served until the API server says otherwise, and follows its answers', async () => {
  const served = new Map<string, readonly string[] | undefined>(all.map((version) => [version, undefined]));
  const t = await started(served);
  t.cluster.sinks.SecurityIntentBinding.changed(binding('1', { intents: ['a'] }));
  expect(t.isServed()).toEqual([false, false]);
  served.set(engine.apiVersion, ['Rule', 'Another']);
  await t.clock.advance(10_000);
  expect(t.isServed()).toEqual([true, false]);
  served.set(engine.apiVersion, ['Another']);
  served.set(other.apiVersion, ['Guard']);
  await t.clock.advance(10_000);
  expect(t.isServed()).toEqual([false, true]);
  await t.stop();
});

test('a group version that does not answer keeps its last answer', async () => {
  const served = new Map<string, readonly string[] | undefined>([
    [engine.apiVersion, ['Rule']],
    [other.apiVersion, []],
  ]);
  const t = await started(served);
  t.cluster.sinks.SecurityIntentBinding.changed(binding('1', { intents: ['a'] }));
  expect(t.isServed()).toEqual([true, false]);
  served.set(engine.apiVersion, undefined);
  served.set(other.apiVersion, ['Guard']);
  await t.clock.advance(10_000);
  expect(t.isServed()).toEqual([true, true]);
  await t.stop();
});

test('a kind that no offered adapter needs counts as served', async () => {
  const t = await started(new Map(all.map((version) => [version, []])));
  expect(t.cluster.snapshot().isServed({ apiVersion: 'v1', kind: 'ConfigMap' })).toBe(true);
  await t.stop();
});

test('the kind of intents is asked for at the start, after each removal, and until there is an answer', async () => {
  const clock = new VirtualClock();
  const removed = new Set<string>();
  const given: unknown[] = [];
  const answers = ['uid-1', undefined, 'uid-1'];
  const asking = new RemovedIntents({
    clock,
    cluster: { removedIntents: removed, setIntentKind: (uid, names) => void given.push([uid, ...names]) },
    kindUid: () => {
      const answer = answers.shift();
      if (answer === undefined)
        return Promise.reject(new KubeError({ code: 503, reason: 'ServiceUnavailable', retryable: true }));
      return Promise.resolve(answer);
    },
  });
  const abort = new AbortController();
  const ended = asking.run(abort.signal);
  await clock.advance(600_000);
  expect(given).toEqual([['uid-1']]);
  removed.add('a');
  asking.ask();
  await clock.settle();
  expect(given).toHaveLength(1);
  await clock.advance(1000);
  expect(given).toEqual([['uid-1'], ['uid-1', 'a']]);
  abort.abort();
  await ended;
});

test.for([
  ['is missing', undefined, undefined],
  ['is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }, undefined],
  ['is there', {}, 'uid-1'],
] as const)('a definition that %s has the uid %o', async ([, metadata, uid]) => {
  const asked: unknown[] = [];
  const writer = {
    read: (ref: unknown) => {
      asked.push(ref);
      return Promise.resolve(metadata && { metadata: { uid: 'uid-1', ...metadata } });
    },
  };
  expect(await definitionUid(writer, 'securityintents', new AbortController().signal)).toBe(uid);
  expect(asked).toMatchObject([{ kind: 'CustomResourceDefinition', name: 'securityintents.reeve.dev' }]);
});
