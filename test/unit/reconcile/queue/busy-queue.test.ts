// When a queue is busy, so that less important writes wait.
import { expect, test } from 'vitest';
import { done, WorkQueue, type Handled } from '../../../../src/reconcile/queue/queue.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

function begin(concurrency: number) {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string>({ concurrency, clock, onError: () => undefined });
  const ends = new Map<string, (handled: Handled) => void>();
  const abort = new AbortController();
  const handle = (key: string): Promise<Handled> => new Promise((resolve) => ends.set(key, resolve));
  const ended = queue.run(handle, abort.signal);
  const told: string[] = [];
  const tell = (): void => void queue.calm().then(() => told.push('calm'));
  return { clock, queue, ends, told, tell, abort, ended };
}

test('a queue is busy while keys wait for a place, and tells when none waits any more', async () => {
  const { clock, queue, ends, told, tell } = begin(2);
  tell();
  await clock.settle();
  expect([queue.isBusy, told]).toEqual([false, ['calm']]);
  for (const key of ['a', 'b']) queue.add(key);
  expect(queue.isBusy).toBe(false);
  for (const key of ['c', 'd']) queue.add(key);
  expect(queue.isBusy).toBe(true);
  for (const _ of [1, 2]) tell();
  ends.get('a')?.(done);
  await clock.settle();
  expect([queue.isBusy, told]).toEqual([true, ['calm']]);
  ends.get('b')?.(done);
  await clock.settle();
  expect([queue.isBusy, queue.running, told]).toEqual([false, 2, ['calm', 'calm', 'calm']]);
});

test('a queue is not busy while keys that failed before wait, and places are free', async () => {
  const { clock, queue, ends } = begin(2);
  for (const key of ['a', 'b']) queue.add(key);
  for (const end of ends.values()) end({ kind: 'retry' });
  await clock.advance(1000);
  await clock.settle();
  expect([queue.queued, queue.running, queue.isBusy]).toEqual([1, 1, false]);
});

test('a queue that stops is calm', async () => {
  const { clock, queue, ends, told, tell, abort, ended } = begin(1);
  for (const key of ['a', 'b']) queue.add(key);
  tell();
  abort.abort();
  ends.get('a')?.(done);
  await ended;
  await clock.settle();
  expect(told).toEqual(['calm']);
});
