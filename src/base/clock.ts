// Defines the one clock of the program: date, monotonic time, sleep, random numbers, and deadlines. A test can replace all.
import { setTimeout as wait } from 'node:timers/promises';

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
    await wait(milliseconds, undefined, signal === undefined ? {} : { signal });
  },
  random: () => Math.random(),
};

// The time at which a request must be answered, and a way to wait for work until then.

type InTime<T> = { readonly inTime: true; readonly value: T } | { readonly inTime: false };

export class Deadline {
  readonly at: number;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, milliseconds: number) {
    this.at = clock.monotonic() + milliseconds;
    this.#clock = clock;
  }

  get remaining(): number {
    return Math.max(0, this.at - this.#clock.monotonic());
  }

  get isOver(): boolean {
    return this.remaining === 0;
  }

  /** Waits for the work until the deadline, then aborts its signal. */
  async within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<InTime<T>> {
    const controller = new AbortController();
    const { promise: over, resolve } = Promise.withResolvers<InTime<T>>();
    const timer = setTimeout(() => {
      controller.abort();
      resolve({ inTime: false });
    }, this.remaining);
    try {
      return await Promise.race([
        work(controller.signal).then((value) => ({ inTime: true, value }) as const),
        over,
      ]);
    } finally {
      clearTimeout(timer);
    }
  }
}
