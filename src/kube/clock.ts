// The one clock of this folder: it only measures how long ago something was, so it never goes back.

export interface MonotonicClock {
  /** Milliseconds since some moment. */
  monotonic(): number;
}

export const monotonicClock: MonotonicClock = { monotonic: () => performance.now() };
