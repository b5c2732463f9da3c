// The one clock of the program: the date, a time that never goes back, sleep and chance, so that a test can set all four.
import { setTimeout } from 'node:timers/promises';

export interface Clock {
  now(): Date;
  /** Milliseconds since some moment; never goes back. */
  monotonic(): number;
  /** Resolves when the time is over. When the signal aborts it resolves or rejects at once. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to, but not including, 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal });
  },
  random: () => Math.random(),
};
