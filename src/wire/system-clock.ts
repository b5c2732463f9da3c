// The clock and the chance of the real world, for whoever takes them as ports.

export const systemClock = {
  now: (): Date => new Date(),
  /** Milliseconds that never go back. */
  monotonic: (): number => performance.now(),
};
