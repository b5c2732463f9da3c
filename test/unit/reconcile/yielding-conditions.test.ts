import { expect, test } from 'vitest';
import { NamespaceConditions } from '../../../src/reconcile/namespace/namespace-conditions.ts';
import { bindingPolicy, team } from '../../support/provided.ts';
import { useHarness } from '../../support/use-harness.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const harness = useHarness();

test('conditions that let objects go first are looked at twice at most, and written in time', async () => {
  const time = new VirtualClock();
  const abort = new AbortController();
  let asked = 0;
  const written: (string | undefined)[] = [];
  const conditions = new NamespaceConditions({
    namespaceOf: (name) => ({ metadata: { name, uid: name, resourceVersion: '1' } }),
    writer: {
      apply: async (object) => {
        written.push(object.metadata.name);
        return await Promise.resolve(object);
      },
    },
    observer: { wroteOwn: () => undefined, faulted: () => undefined },
    time,
    isBusy: () => {
      asked += 1;
      return true;
    },
  });
  const ended = conditions.queue.run(abort.signal);
  conditions.open();
  for (const name of ['a', 'b', 'c'])
    conditions.want(name, { type: 'reeve.dev/Ready', status: 'True', reason: 'Synced', message: '' });
  await time.advance(1900);
  expect([asked, written]).toEqual([3, []]);
  await time.advance(200);
  await time.settle();
  expect([asked, new Set(written)]).toEqual([6, new Set(['a', 'b', 'c'])]);
  abort.abort();
  await ended;
});

test('they are written as soon as no objects wait any more', async () => {
  const h = harness({ concurrency: 1 });
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) h.namespace(name, team);
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle(1000);
  expect(h.time.monotonic()).toBeLessThan(1000);
  for (const name of names)
    expect(h.condition('Namespace', name, 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
});
