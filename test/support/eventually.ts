// Polls an expectation for as long as the slowest machine may need.
import { expect } from 'vitest';
import { pauses } from './until.ts';

/** Longer than the pause of 30 s after which Reeve asks again for what was refused. Shorter than a test may take. */
const timeout = 150_000;

type Polled<T> = ReturnType<typeof expect.poll<Promise<Awaited<T>>>>;

/** expect.poll with a longer timeout than its default of a second, and with pauses that grow from `firstMs`. */
export function eventually<T>(value: () => T, firstMs = 10): Polled<T> {
  const pause = pauses(firstMs);
  let isFirst = true;
  const next = async (): Promise<Awaited<T>> => {
    if (!isFirst) await pause();
    isFirst = false;
    return await value();
  };
  return expect.poll(next, { timeout, interval: 0 });
}
