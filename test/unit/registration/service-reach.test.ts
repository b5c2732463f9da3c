// The webhook creates its configurations once a replica has answered through its Service for half a second.
import { expect, test } from 'vitest';
import { serviceReached } from '../../../src/registration/keep-configurations.ts';

/** Returns the milliseconds that pass until the Service counts as reached. Without an answer, a question takes until its timeout. */
async function reachedAfter(isReachableAt: (now: number) => boolean | undefined): Promise<number> {
  let now = 0;
  const clock = {
    monotonic: () => now,
    sleep: (milliseconds: number) => {
      now += milliseconds;
      return Promise.resolve();
    },
  };
  const tryService = (timeoutMs: number): Promise<boolean> => {
    const answer = isReachableAt(now);
    if (answer === undefined) now += timeoutMs;
    return Promise.resolve(answer ?? false);
  };
  await serviceReached(tryService, clock, new AbortController().signal);
  return now;
}

test.each([
  ['a Service that leads to a replica from the start is reached after half a second', () => true, 500],
  ['a Service is reached half a second after the first answer', (now: number) => now >= 3000, 3500],
  [
    'the half second begins again after a question without an answer',
    (now: number) => now >= 1000 && now !== 1250,
    2000,
  ],
  ['a Service that leads to no replica counts as reached after ten seconds', () => false, 10_000],
  ['a Service whose questions all hang counts as reached after ten seconds', () => undefined, 10_000],
  [
    'a question that begins late and hangs ends after ten seconds',
    (now: number) => (now < 9750 ? false : undefined),
    10_000,
  ],
  [
    'a question that hangs is given up after three seconds, so the next one finds the replica',
    (now: number) => (now === 0 ? undefined : true),
    3750,
  ],
])('%s', async (_title, isReachableAt, milliseconds) => {
  expect(await reachedAfter(isReachableAt)).toBe(milliseconds);
});

test('the wait ends when the signal aborts', async () => {
  const clock = { monotonic: () => 0, sleep: () => Promise.resolve() };
  const stop = new AbortController();
  let tries = 0;
  const tryService = (): Promise<boolean> => {
    tries += 1;
    if (tries === 3) stop.abort();
    return Promise.resolve(false);
  };
  await serviceReached(tryService, clock, stop.signal);
  expect(tries).toBe(3);
});
