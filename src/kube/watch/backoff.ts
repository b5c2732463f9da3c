// How long to wait before the next try: longer after each failure, and never in step with others who failed as well.
import type { Clock } from '../../base/clock.ts';

export interface BackoffBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

const usualBounds: BackoffBounds = { leastMs: 200, mostMs: 30_000 };

/** A proxy may ask for hours. Nobody could tell waiting that long from having stopped. */
const mostRetryAfterMs = 300_000;

export class Backoff {
  readonly #clock: Pick<Clock, 'random'>;
  readonly #bounds: BackoffBounds;
  #failures = 0;

  constructor(clock: Pick<Clock, 'random'>, bounds = usualBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** What the server asked for is the least; all who were told the same do not come back in the same moment. */
  next(retryAfterMs = 0): number {
    const { leastMs, mostMs } = this.#bounds;
    // Chance at most doubles the wait, so the doubling stops one step before the end.
    const longest = Math.min(mostMs, 2 * leastMs * 2 ** this.#failures);
    this.#failures += 1;
    const jitter = this.#clock.random();
    const asked = Math.min(retryAfterMs, mostRetryAfterMs) * (1 + jitter / 4);
    return Math.max((longest / 2) * (1 + jitter), asked);
  }

  reset(): void {
    this.#failures = 0;
  }
}
