import { expect, test } from 'vitest';
import { apiVersion } from '../../../../src/schema/names.ts';
import type { WatchSink } from '../../../../src/base/watch-sink.ts';
import { MemoryCluster } from '../../../support/memory-cluster.ts';
import type { MemoryWatch } from '../../../support/memory-objects.ts';
import { bindingPolicy, team } from '../../../support/provided.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();

/** Lets a test send an event to a watch by itself. */
class RestorableCluster extends MemoryCluster {
  readonly sinks = new Map<string, WatchSink>();

  override watch(watch: MemoryWatch): void {
    this.sinks.set(watch.type.kind, watch.sink);
    super.watch(watch);
  }
}

test('after a restore of etcd, the status of a policy is read again', async () => {
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
