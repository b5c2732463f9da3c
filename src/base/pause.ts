// Waits for a time, or until a signal aborts, or until another part of the program has news.
import { isAborted } from './abort.ts';
import type { Clock } from './clock.ts';

/** Resolves when the time is over and also when the signal aborts, whatever `sleep` of the clock does then. */
export async function pause(
  clock: Pick<Clock, 'sleep'>,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  try {
    await clock.sleep(milliseconds, signal);
  } catch (error) {
    // Any other rejection is an error of the program.
    if (!isAborted(signal)) throw error;
  }
}

/** A wait that another part of the program can end early. */
export class InterruptiblePause {
  readonly #clock: Pick<Clock, 'sleep'>;
  #interrupted = Promise.withResolvers<void>();

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  /** Ends the current wait, or the next one when nothing waits. */
  interrupt(): void {
    this.#interrupted.resolve();
  }

  /** Resolves after the time, after `interrupt`, or when the signal aborts. */
  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    try {
      await Promise.race([
        this.#interrupted.promise,
        this.#clock.sleep(milliseconds, either).catch(() => undefined),
      ]);
    } finally {
      over.abort();
      this.#interrupted = Promise.withResolvers<void>();
    }
  }
}
