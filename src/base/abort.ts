// Helpers for AbortSignal: asks a signal again, and stops waiting when it aborts.

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
