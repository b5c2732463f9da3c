// Waiting no longer than a request may take, on a clock that the test moves.
import { expect, test } from 'vitest';
import { Deadline } from '../../../../src/base/clock.ts';

function clockAt(time: { ms: number }) {
  return { now: () => new Date(0), monotonic: () => time.ms };
}

test('the remaining time follows the given clock', () => {
  const time = { ms: 100 };
  const deadline = new Deadline(clockAt(time), 50);
  expect(deadline.remaining).toBe(50);
  time.ms = 149;
  expect(deadline.isOver).toBe(false);
  time.ms = 150;
  expect(deadline.isOver).toBe(true);
  time.ms = 500;
  expect(deadline.remaining).toBe(0);
});

test('a result in time is returned', async () => {
  const deadline = new Deadline(clockAt({ ms: 0 }), 60_000);
  expect(await deadline.within(() => Promise.resolve(7))).toEqual({ inTime: true, value: 7 });
});

test('at the deadline the wait ends, and the work is aborted', async () => {
  const deadline = new Deadline(clockAt({ ms: 0 }), 1);
  const seen: AbortSignal[] = [];
  const outcome = await deadline.within((signal) => {
    seen.push(signal);
    return new Promise<never>(() => undefined);
  });
  expect(outcome).toEqual({ inTime: false });
  expect(seen[0]?.aborted).toBe(true);
});

test('an error in time is thrown, and a late error is ignored', async () => {
  const deadline = new Deadline(clockAt({ ms: 0 }), 60_000);
  await expect(deadline.within(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const late = new Deadline(clockAt({ ms: 0 }), 1);
  const failsWhenAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => setImmediate(() => reject(new Error('late'))));
    });
  expect(await late.within(failsWhenAborted)).toEqual({ inTime: false });
});
