// Waits for what comes about by itself on a cluster; each look is some requests, so it does not look all the time.
import { expect } from 'vitest';

export function inTime<T>(value: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(value, { timeout: 60_000, interval: 100 });
}
