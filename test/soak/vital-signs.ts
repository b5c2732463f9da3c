// Loaded into a process of Reeve before the program: at SIGUSR2 it collects its garbage and notes how it is doing.
import { appendFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export interface VitalSigns {
  /** Since the process began, in seconds. */
  readonly age: number;
  readonly rss: number;
  readonly heap: number;
  /** What the heap does not hold: buffers above all. */
  readonly external: number;
  readonly descriptors: number;
  readonly sockets: number;
  readonly timers: number;
  /** Whatever keeps the event loop going, timers left out. */
  readonly handles: number;
}

const home = process.env['HOME'] ?? '';
const notes = join(home, `vital-signs-${process.pid}.jsonl`);

process.on('SIGUSR2', () => {
  const { gc } = globalThis;
  gc?.();
  // What the first collection left to be finalized.
  setImmediate(() => {
    gc?.();
    note(`${JSON.stringify(vitalSigns())}\n`);
  });
});

/** Where there is no place for notes, there are none: what is watched must not come to harm. */
function note(line: string): void {
  try {
    appendFileSync(notes, line);
  } catch {
    // The folder is gone.
  }
}

function vitalSigns(): VitalSigns {
  const { rss, heapUsed, external } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const timers = resources.filter((each) => each === 'Timeout').length;
  const targets = descriptorTargets();
  return {
    age: process.uptime(),
    rss,
    heap: heapUsed,
    external,
    descriptors: targets.length,
    sockets: targets.filter((target) => target.startsWith('socket:')).length,
    timers,
    handles: resources.length - timers,
  };
}

/** https://man7.org/linux/man-pages/man5/proc_pid_fd.5.html */
function descriptorTargets(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      // The one that the folder was read by.
      return [];
    }
  });
}
