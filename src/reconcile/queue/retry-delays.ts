// How long a key waits before it is tried again: longer after each failure, and never in step with others.

export interface RetryBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** An API server that was away for a minute is made use of again soon after. */
const usualBounds: RetryBounds = { leastMs: 100, mostMs: 30_000 };

export class RetryDelays<K> {
  readonly #random: () => number;
  readonly #bounds: RetryBounds;
  readonly #failures = new Map<K, number>();

  constructor(random: () => number, bounds = usualBounds) {
    this.#random = random;
    this.#bounds = bounds;
  }

  failures(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /** From once to twice the least wait after the first failure, then twice as long after each. */
  next(key: K): number {
    const { leastMs, mostMs } = this.#bounds;
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    return Math.min(mostMs, leastMs * 2 ** failures) * (1 + this.#random());
  }

  forget(key: K): void {
    this.#failures.delete(key);
  }

  clear(): void {
    this.#failures.clear();
  }
}
