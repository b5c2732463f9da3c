// A sleep that may end early, and ends the same way however it ended.
import type { Clock } from './clock.ts';
import { isAborted } from './is-aborted.ts';

export async function pause(
  clock: Pick<Clock, 'sleep'>,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  try {
    await clock.sleep(milliseconds, signal);
  } catch (error) {
    // What else can fail in a sleep is a fault of the program.
    if (!isAborted(signal)) throw error;
  }
}
