// Time and chance as the loops of this folder are given them, so that a test can be both.
import type { MonotonicClock } from './clock.ts';

export interface Pacing {
  readonly clock: MonotonicClock;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  /** Resolves when the time is over. When the signal aborts it resolves or rejects at once. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}
