// Polls an expectation for as long as the slowest machine may need.
import { expect } from 'vitest';

/** expect.poll with a longer timeout than its default of a second. */
export function eventually<T>(value: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(value, { timeout: 30_000, interval: 10 });
}
