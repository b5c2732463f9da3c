// The time at which a request must be answered, and a way to wait for work until then.
import type { Clock } from '../../base/clock.ts';

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
