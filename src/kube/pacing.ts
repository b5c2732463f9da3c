// Time and chance as the loops of this folder are given them, so that a test can be both.
import { isAborted } from '../api/is-aborted.ts';
import type { MonotonicClock } from './clock.ts';

export interface Pacing {
  readonly clock: MonotonicClock;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  /** Resolves when the time is over. When the signal aborts it resolves or rejects at once. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** A sleep that may end early, and ends the same way however it ended. */
export async function pause(pacing: Pacing, milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  try {
    await pacing.sleep(milliseconds, signal);
  } catch (error) {
    // What else can fail in a sleep is a fault of the program.
    if (!isAborted(signal)) throw error;
  }
}
