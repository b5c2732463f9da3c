// Asks a signal anew each time: the compiler believes that one found unaborted once stays so.

export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
