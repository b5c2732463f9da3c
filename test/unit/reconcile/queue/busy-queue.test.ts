// When a queue is busy, so that less important writes wait.
import { expect, test } from 'vitest';
import { done, WorkQueue, type Handled } from '../../../../src/reconcile/queue/queue.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

test('a queue is busy while keys are ready or were started a moment ago, and not by a handler that takes long', async () => {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string>({ concurrency: 1, clock, onError: () => undefined });
  const ends = new Map<string, (handled: Handled) => void>();
  const handle = (key: string): Promise<Handled> => new Promise((resolve) => ends.set(key, resolve));
  void queue.run(handle, new AbortController().signal);
  expect(queue.isBusy()).toBe(false);
  queue.add('a');
  expect([queue.isBusy(), queue.isBusy('a')]).toEqual([true, false]);
  await clock.advance(60);
  expect([[...ends.keys()], queue.isBusy()]).toEqual([['a'], false]);
  queue.add('b');
  expect(queue.isBusy('a')).toBe(true);
  ends.get('a')?.(done);
  await clock.settle();
  expect([queue.isBusy('a'), queue.isBusy('b')]).toEqual([true, false]);
  await clock.advance(60);
  expect(queue.isBusy('a')).toBe(false);
});
