// Waits: for a time, for work that several callers share, or until an AbortSignal aborts.
import type { Clock } from './clock.ts';

/** Reads `aborted` afresh. After one check the compiler believes that the signal stays unaborted. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Rejects with the reason of the signal. The work itself continues, and its result is ignored. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

// Waits for a time, or until a signal aborts, or until another part of the program has news.

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

// Shares one piece of work between all callers that ask for the same key at the same time.

export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>();

  /** A caller whose signal aborts stops waiting. The work continues, because other callers may wait for it. */
  async run(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, work);
    return signal === undefined ? await flight : await abortable(flight, signal);
  }

  #begin(key: string, work: () => Promise<T>): Promise<T> {
    const flight = work().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }
}
