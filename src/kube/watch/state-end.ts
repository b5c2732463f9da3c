// Gives up on a watch that never marks the end of its first state: proxies can drop that bookmark, and go on with others.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';

/** A server sends one object after the other, then the mark. Pages cost it more, so a slow one gets some time. */
const unmarkedMs = 10_000;

export class StateEnd {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly #over = new AbortController();
  readonly #missing = new AbortController();
  #heardAt: number;

  constructor(clock: Pick<Clock, 'monotonic' | 'sleep'>, signal: AbortSignal) {
    this.#clock = clock;
    this.#heardAt = clock.monotonic();
    void this.#watch(AbortSignal.any([signal, this.#over.signal]));
  }

  /** Aborts when no object has come for too long. */
  get missing(): AbortSignal {
    return this.#missing.signal;
  }

  /** An object has come. */
  heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  /** The time until `heard` does not count: the reader is at work. */
  hold(): void {
    this.#heardAt = Infinity;
  }

  /** The end has come, or the stream failed. */
  over(): void {
    this.#over.abort();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const left = Math.min(unmarkedMs, this.#heardAt + unmarkedMs - this.#clock.monotonic());
      if (left > 0) await pause(this.#clock, left, signal);
      else return this.#missing.abort();
    }
  }
}
