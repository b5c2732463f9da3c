// Checks what ends a pause: the time, a signal, or another part of the program.
import { expect, test } from 'vitest';
import { InterruptiblePause, pause } from '../../../src/base/abort.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

interface Waiting {
  readonly isOver: () => boolean;
}

function watching(work: Promise<void>): Waiting {
  let isOver = false;
  void work.then(() => (isOver = true));
  return { isOver: () => isOver };
}

test('a pause ends when the time is over', async () => {
  const clock = new VirtualClock();
  const { isOver } = watching(pause(clock, 100, new AbortController().signal));
  await clock.advance(99);
  expect(isOver()).toBe(false);
  await clock.advance(1);
  expect(isOver()).toBe(true);
});

test('a pause ends without an error when the signal aborts', async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const { isOver } = watching(pause(clock, 100, controller.signal));
  controller.abort();
  await clock.settle();
  expect([isOver(), ...clock.sleeping]).toEqual([true]);
});

test('a pause does not start when the signal has aborted', async () => {
  const clock = new VirtualClock();
  await pause(clock, 100, AbortSignal.abort());
  expect(clock.sleeping).toEqual([]);
});

test('another error of the clock rejects the pause', async () => {
  const clock = { sleep: () => Promise.reject(new Error('broken')) };
  await expect(pause(clock, 100, new AbortController().signal)).rejects.toThrow('broken');
});

test.for([
  ['the time is over', (clock: VirtualClock) => clock.advance(100)],
  [
    'it is interrupted',
    async (clock: VirtualClock, waiting: InterruptiblePause) => {
      waiting.interrupt();
      await clock.settle();
    },
  ],
  [
    'the signal aborts',
    async (clock: VirtualClock, _: InterruptiblePause, stop: AbortController) => {
      stop.abort();
      await clock.settle();
    },
  ],
] as const)('an interruptible pause ends when %s, and leaves no timer', async ([, end]) => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const waiting = new InterruptiblePause(clock);
  const { isOver } = watching(waiting.wait(100, stop.signal));
  await clock.settle();
  expect(isOver()).toBe(false);
  await end(clock, waiting, stop);
  expect([isOver(), ...clock.sleeping]).toEqual([true]);
});

test('an interruption without a wait ends the next wait, and only that one', async () => {
  const clock = new VirtualClock();
  const { signal } = new AbortController();
  const waiting = new InterruptiblePause(clock);
  waiting.interrupt();
  await waiting.wait(100, signal);
  const { isOver } = watching(waiting.wait(100, signal));
  await clock.advance(99);
  expect(isOver()).toBe(false);
  await clock.advance(1);
  expect(isOver()).toBe(true);
});
