// Waits for what comes about by itself, for as long as the slowest machine may need.
import { expect } from 'vitest';

/** Like expect.poll, whose own patience is a second. */
export function eventually<T>(value: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(value, { timeout: 30_000, interval: 10 });
}
