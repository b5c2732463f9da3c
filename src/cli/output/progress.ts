// Shows on a terminal how much of a cluster has been read. The line disappears at the end.
import type { Clock } from '../../base/clock.ts';

/** A shorter wait needs no explanation. */
const quietMs = 500;
const betweenLinesMs = 100;
const clearedLine = '\r\u001b[K';

export interface Progress {
  /** Called with the number of objects of each page. */
  readonly read: (objects: number) => void;
  readonly end: () => void;
}

/** For a standard error that is no terminal. */
export const noProgress: Progress = { read: () => undefined, end: () => undefined };

/** Pages come often enough, so no timer runs that could keep the process alive. */
export function startedProgress(terminal: (text: string) => void, clock: Pick<Clock, 'monotonic'>): Progress {
  let objects = 0;
  let isShown = false;
  let nextAt = clock.monotonic() + quietMs;
  return {
    read: (count) => {
      objects += count;
      const now = clock.monotonic();
      if (now < nextAt) return;
      nextAt = now + betweenLinesMs;
      isShown = true;
      terminal(`${clearedLine}reading the cluster: ${objects.toLocaleString('en-US')} objects`);
    },
    end: () => {
      if (isShown) terminal(clearedLine);
      isShown = false;
    },
  };
}
