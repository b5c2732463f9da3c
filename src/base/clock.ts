// The one clock of the program: date, monotonic time, sleep and random numbers, so that a test can set all four.
import { setTimeout } from 'node:timers/promises';

export interface Clock {
  now(): Date;
  /** Milliseconds since an unknown moment. It never goes back, so it measures how long ago something was. */
  monotonic(): number;
  /** Resolves when the time is over. When the signal aborts, it resolves or rejects at once. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** A number from 0 up to, but not including, 1. */
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
