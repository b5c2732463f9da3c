// Polls for a state that a cluster reaches by itself. It polls slowly, because each poll sends several requests.
import { expect } from 'vitest';

export function inTime<T>(value: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(value, { timeout: 150_000, interval: 100 });
}
