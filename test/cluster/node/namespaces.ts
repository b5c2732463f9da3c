// Starts a program as PID 1 of namespaces and of a cgroup of its own, and finds its processes from outside.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { moveProcess, processesOf } from './cgroups.ts';

export interface Isolated {
  readonly program: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** An open file for stdout and stderr. */
  readonly log: number;
  /** The cgroups whose root the program gets to see. */
  readonly cgroups: readonly string[];
}

/** https://man7.org/linux/man-pages/man1/unshare.1.html: the end of `unshare` ends PID 1, and with that all others. */
const unshare = 'unshare --cgroup --mount --net --uts --ipc --pid --fork --kill-child --mount-proc'.split(
  ' ',
);

/** `setpriv`: the end of this process ends `unshare`. The shell waits until it is in its cgroups. */
const command = ['-c', 'read -r _ && exec setpriv --pdeathsig KILL -- "$@"', 'isolated', ...unshare, '--'];

/** Returns the process of `unshare`, whose only child is the program. */
export function startIsolated({ program, cwd, env, log, cgroups }: Isolated): ChildProcess {
  const child = spawn('/bin/sh', [...command, ...program], { cwd, env, stdio: ['pipe', log, log] });
  child.stdin?.on('error', () => undefined);
  if (child.pid === undefined) throw new Error(`${program[0]} could not be started`);
  moveProcess(child.pid, cgroups);
  child.stdin?.end('\n');
  return child;
}

/** Returns PID 1 of the namespace that `startIsolated` makes, or undefined when it ended first. */
export async function firstProcess(child: ChildProcess): Promise<number | undefined> {
  for (let tries = 0; child.exitCode === null && tries < 1000; tries += 1) {
    const [first] = childrenOf(child.pid ?? 0);
    if (first !== undefined) return first;
    await sleep(10);
  }
  return undefined;
}

/** The shell and `setpriv` have no children, so a child is that of `unshare`. */
function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Returns the process in this cgroup that is PID 1 of its own namespace, as seen from here. */
export function initOf(cgroup: string): number | undefined {
  return [cgroup, join(cgroup, 'own')].flatMap(processesIn).find(isInit);
}

function processesIn(folder: string): readonly number[] {
  try {
    return processesOf(folder);
  } catch {
    return [];
  }
}

/** https://man7.org/linux/man-pages/man5/proc_pid_status.5.html: NSpid ends with the id in the innermost namespace. */
function isInit(pid: number): boolean {
  try {
    return /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
