// Polls an expectation for as long as the slowest machine may need.
import { expect } from 'vitest';

/** Longer than the pause of 30 s after which Reeve asks again for what was refused. Shorter than a test may take. */
const timeout = 150_000;

/** expect.poll with a longer timeout than its default of a second. */
export function eventually<T>(value: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(value, { timeout, interval: 10 });
}
