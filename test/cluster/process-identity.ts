// Names a process by its pid and the time it started, so that a signal never reaches another one that got the same pid.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; two processes of the same pid differ in it. */
  readonly started: string;
}

/** undefined when there is no such process, or only what is left of it until its parent asks how it ended. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = existsSync('/proc/self/stat') ? startedByProc(pid) : startedByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

/** Says whether the very process was there to get the signal. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    // It ended between the two lines.
    return false;
  }
}

/** Returns when it has ended: by SIGTERM or, once the patience is over, by SIGKILL; without patience at once by that. */
export async function endProcess(identity: ProcessIdentity, patienceMs: number): Promise<void> {
  signalProcess(identity, patienceMs > 0 ? 'SIGTERM' : 'SIGKILL');
  // A process that was stopped by SIGSTOP takes the signal only when it goes on.
  signalProcess(identity, 'SIGCONT');
  const deadline = performance.now() + patienceMs;
  while (isRunning(identity)) {
    if (performance.now() > deadline) signalProcess(identity, 'SIGKILL');
    await sleep(20);
  }
}

/** Reads /proc/<pid>/stat; the name in parentheses may hold anything. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
export function startTimeOf(stat: string): string | undefined {
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [threads, started] = [Number(fields[16]), fields[18]];
  // A killed process is a zombie while other threads of it still end, and its ports are open until they have.
  const hasEnded = state === 'X' || (state === 'Z' && threads <= 1);
  return hasEnded ? undefined : started;
}

function startedByProc(pid: number): string | undefined {
  try {
    return startTimeOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

function startedByPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  const [state = 'Z', ...started] = stdout.trim().split(/\s+/);
  return state.startsWith('Z') || started.length === 0 ? undefined : started.join(' ');
}
