// Identifies a process by its pid and start time, so that a signal never reaches a later process with the same pid.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessIdentity {
  readonly pid: number;
  /** An opaque start time. Two processes with the same pid differ in it. */
  readonly started: string;
}

/** Returns undefined for a missing process, and for a zombie that its parent has not collected. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = existsSync('/proc/self/stat') ? startedByProc(pid) : startedByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

/** Returns true when this very process got the signal. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    // The process ended after the check.
    return false;
  }
}

/** Sends SIGTERM, and SIGKILL after `patienceMs`; with 0, SIGKILL at once. Resolves when the process has ended. */
export async function endProcess(identity: ProcessIdentity, patienceMs: number): Promise<void> {
  signalProcess(identity, patienceMs > 0 ? 'SIGTERM' : 'SIGKILL');
  // A process stopped by SIGSTOP handles the signal only after SIGCONT.
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
  // A killed process is a zombie while its other threads still end. Its ports stay open until they have ended.
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
