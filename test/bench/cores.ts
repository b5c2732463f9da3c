// Which core runs what, so that the load generator takes no time from the servers.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

export const serverCore = 0;
export const loadCore = 1;

/** Returns the command that runs on this core only, or the same command on a machine without a second core or taskset. */
export function onCore(core: number, command: readonly string[]): readonly [string, ...string[]] {
  const [program = '', ...args] = command;
  const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;
  return canPin ? ['taskset', '-c', String(core), ...command] : [program, ...args];
}
