// Sleeps until the time is over or a signal ends it, whichever comes first.
import { isAborted } from '../api/is-aborted.ts';
import type { Time } from './ports.ts';

export async function pause(
  time: Pick<Time, 'sleep'>,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await time.sleep(milliseconds, signal);
  } catch (error) {
    if (!isAborted(signal)) throw error;
  }
}
