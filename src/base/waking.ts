// A wait that ends when its time is over, or as soon as somebody has news.
import { systemClock } from './clock.ts';

export class Waking {
  #news = Promise.withResolvers<void>();

  /** Ends the wait that is under way, or the next one. */
  wake(): void {
    this.#news.resolve();
  }

  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    try {
      await Promise.race([
        this.#news.promise,
        systemClock.sleep(milliseconds, either).catch(() => undefined),
      ]);
    } finally {
      over.abort();
      this.#news = Promise.withResolvers<void>();
    }
  }
}
