// Lets work that must not be left half done go on for a while after it was to be broken off.
import type { Clock } from '../../base/clock.ts';

/**
 * The signal that the work is given aborts so long after the other one. Not begun once that has aborted; rejects as the
 * work does.
 */
export async function outlasting<T>(
  signal: AbortSignal,
  graceMs: number,
  time: Pick<Clock, 'sleep'>,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const late = new AbortController();
  const ended = new AbortController();
  const follow = (): void => {
    time.sleep(graceMs, ended.signal).then(
      () => late.abort(),
      () => undefined,
    );
  };
  signal.addEventListener('abort', follow, { once: true, signal: ended.signal });
  try {
    return await work(late.signal);
  } finally {
    ended.abort();
  }
}
