// A sleep that may end early, and ends the same way however it ended.
import { isAborted } from './is-aborted.ts';

interface Sleeper {
  /** Resolves when the time is over. When the signal aborts it resolves or rejects at once. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export async function pause(sleeper: Sleeper, milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  try {
    await sleeper.sleep(milliseconds, signal);
  } catch (error) {
    // What else can fail in a sleep is a fault of the program.
    if (!isAborted(signal)) throw error;
  }
}
