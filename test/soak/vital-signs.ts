// Loaded into a process of Reeve before the program: at SIGUSR2 it collects garbage and writes down its use of resources.
import { appendFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export interface VitalSigns {
  /** The seconds since the process started. */
  readonly age: number;
  readonly rss: number;
  readonly heap: number;
  /** Memory outside the heap, mostly buffers. */
  readonly external: number;
  readonly descriptors: number;
  readonly sockets: number;
  readonly timers: number;
  /** Handles that keep the event loop alive, except timers. */
  readonly handles: number;
}

const home = process.env['HOME'] ?? '';
const notes = join(home, `vital-signs-${process.pid}.jsonl`);

process.on('SIGUSR2', () => {
  collectGarbage();
  // Waits for the finalizers that the first collection has scheduled.
  setImmediate(() => {
    collectGarbage();
    note(`${JSON.stringify(vitalSigns())}\n`);
  });
});

/**
 * A last-resort collection also returns free pages to the operating system. A regular one keeps up to 40 MB of them,
 * more under load, so that the resident memory would say how busy the process was and not what it holds.
 */
function collectGarbage(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Ignores errors, because a failed note must not harm the watched process. */
function note(line: string): void {
  try {
    appendFileSync(notes, line);
  } catch {
    // The folder no longer exists.
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
      // The descriptor with which the folder was read is closed.
      return [];
    }
  });
}
