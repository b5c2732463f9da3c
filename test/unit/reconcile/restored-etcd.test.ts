import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/kube-object.ts';
import { apiVersion } from '../../../src/api/names.ts';
import type { WatchSink } from '../../../src/base/watch-sink.ts';
import { observeSecretMetadata } from '../../../src/policy/plan/observed.ts';
import { NamespaceConditions } from '../../../src/reconcile/namespace/namespace-conditions.ts';
import { ObservedObjects } from '../../../src/reconcile/live/observed-objects.ts';
import { Sources } from '../../../src/reconcile/live/sources.ts';
import { aShare } from '../../support/engine.ts';
import { MemoryCluster, type MemoryWatch } from '../../support/memory-cluster.ts';
import { bindingPolicy, team } from '../../support/provided.ts';
import { useHarness } from '../../support/use-harness.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const harness = useHarness();

function secret(version: number, name = 's'): KubeObject {
  const metadata = { name, namespace: 'n', uid: `u-${name}`, resourceVersion: String(version) };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: { k: btoa(String(version)) } };
}

describe('a list that is older than what the watch has told', () => {
  test('takes the place of all that is known of objects', () => {
    const type = { apiVersion: 'v1', kind: 'Secret' };
    const objects = new ObservedObjects(
      () => undefined,
      () => undefined,
    );
    const sink = objects.sink(type, observeSecretMetadata);
    sink.replaced([], '1');
    sink.changed(secret(50));
    sink.changed(secret(60, 't'));
    const versions = () => ['s', 't'].map((name) => objects.get('n', `/Secret/${name}`)?.resourceVersion);
    expect(versions()).toEqual(['50', '60']);
    sink.replaced([secret(20)], '30');
    expect(versions()).toEqual(['20', undefined]);
    sink.changed(secret(31));
    expect(versions()).toEqual(['31', undefined]);
  });

  test('takes the place of all that is known of sources', async () => {
    const share = aShare('x', { source: { namespace: 'n', name: 's' }, targets: { names: ['*'] } });
    let stored = secret(50);
    const told: string[] = [];
    const sources = new Sources({
      namespaces: ['n'],
      writer: { read: async () => await Promise.resolve(stored) },
      shares: () => [share],
      changed: (id) => told.push(id),
    });
    const sink = sources.sink('n');
    const { signal } = new AbortController();
    sink.replaced([], '1');
    sink.changed(stored);
    await sources.read(share, signal);
    expect(sources.copyStateOf(share)).toMatchObject({ payload: { data: { k: btoa('50') } } });
    stored = secret(20);
    told.length = 0;
    sink.replaced([stored], '30');
    expect([sources.copyStateOf(share).kind, told]).toEqual(['unread', ['n/s']]);
    await sources.read(share, signal);
    expect(sources.copyStateOf(share)).toMatchObject({ payload: { data: { k: btoa('20') } } });
  });
});

/** Lets a test tell a watch something by itself. */
class RestorableCluster extends MemoryCluster {
  readonly sinks = new Map<string, WatchSink>();

  override watch(watch: MemoryWatch): void {
    this.sinks.set(watch.type.kind, watch.sink);
    super.watch(watch);
  }
}

test('the status of a policy that has gone back is looked at again', async () => {
  const memory = new RestorableCluster(() => new Date('2026-11-21T12:00:00Z'));
  const h = harness({}, memory);
  h.namespace('a', team);
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle();
  const reads: string[] = [];
  memory.before = ({ verb, ref }) => {
    if (verb === 'read' && ref.apiVersion === apiVersion) reads.push(ref.name);
  };
  const policy = h.get('NamespacePolicy', 'p');
  if (policy === undefined) throw new Error('there is no policy');
  const earlier = { ...policy, status: {}, metadata: { ...policy.metadata, resourceVersion: '50' } };
  memory.sinks.get('NamespacePolicy')?.replaced([earlier], '50');
  await h.settle();
  expect(reads).toEqual(['p']);
});

test('a condition that we have written does not count for a namespace that has gone back', async () => {
  const time = new VirtualClock();
  const abort = new AbortController();
  const namespaceObject = { metadata: { name: 'a', uid: 'u', resourceVersion: '7' } };
  const written: unknown[] = [];
  const conditions = new NamespaceConditions({
    namespaceOf: () => namespaceObject,
    writer: {
      apply: async (object) => {
        written.push(object);
        const metadata = { ...object.metadata, resourceVersion: '9' };
        return await Promise.resolve({ ...object, metadata });
      },
    },
    observer: { wroteOwn: () => undefined, faulted: () => undefined },
    time,
    isBusy: () => false,
  });
  const ended = conditions.queue.run(abort.signal);
  conditions.open();
  const wanted = { type: 'reeve.dev/Ready', status: 'True', reason: 'Synced', message: '' } as const;
  conditions.want('a', wanted);
  await time.settle();
  conditions.changed('a');
  await time.settle();
  expect(written).toHaveLength(1);
  conditions.restored('a');
  conditions.changed('a');
  await time.settle();
  expect(written).toHaveLength(2);
  abort.abort();
  await ended;
});
