// Computes the wait before the next try: longer after each error, and spread by chance.
import type { Clock } from './clock.ts';

interface BackoffBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

const defaultBounds: BackoffBounds = { minMs: 200, maxMs: 30_000 };

/** A proxy may require hours, and waiting that long would look like having stopped. */
const maxRetryAfterMs = 300_000;

export class Backoff {
  readonly #clock: Pick<Clock, 'random'>;
  readonly #bounds: BackoffBounds;
  #errors = 0;

  constructor(clock: Pick<Clock, 'random'>, bounds = defaultBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** Returns at least `retryAfterMs`, spread so that clients with the same answer do not come back together. */
  next(retryAfterMs = 0): number {
    const { minMs, maxMs } = this.#bounds;
    // The random part at most doubles the wait, so the exponential part stops at half the maximum.
    const longest = Math.min(maxMs, 2 * minMs * 2 ** this.#errors);
    this.#errors += 1;
    const jitter = this.#clock.random();
    const asked = Math.min(retryAfterMs, maxRetryAfterMs) * (1 + jitter / 4);
    return Math.max((longest / 2) * (1 + jitter), asked);
  }

  reset(): void {
    this.#errors = 0;
  }
}
