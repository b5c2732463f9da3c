// Waiting no longer than a request may take, on a clock that the test moves.
import { expect, test } from 'vitest';
import { Deadline } from '../../../../src/admission/http/deadline.ts';

function clockAt(time: { ms: number }) {
  return { now: () => new Date(0), monotonic: () => time.ms };
}

test('counts down on the clock that it was given', () => {
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

test('hands over what comes in time', async () => {
  const deadline = new Deadline(clockAt({ ms: 0 }), 60_000);
  expect(await deadline.within(() => Promise.resolve(7))).toEqual({ inTime: true, value: 7 });
});

test('stops waiting for what never comes, and tells it so', async () => {
  const deadline = new Deadline(clockAt({ ms: 0 }), 1);
  const seen: AbortSignal[] = [];
  const outcome = await deadline.within((signal) => {
    seen.push(signal);
    return new Promise<never>(() => undefined);
  });
  expect(outcome).toEqual({ inTime: false });
  expect(seen[0]?.aborted).toBe(true);
});

test('passes an error on, and one that comes too late nowhere', async () => {
  const deadline = new Deadline(clockAt({ ms: 0 }), 60_000);
  await expect(deadline.within(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const late = new Deadline(clockAt({ ms: 0 }), 1);
  const failsWhenAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => setImmediate(() => reject(new Error('late'))));
    });
  expect(await late.within(failsWhenAborted)).toEqual({ inTime: false });
});
