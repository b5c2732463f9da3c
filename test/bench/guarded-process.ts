// A program that the guard of control planes ends with the bench, however the bench ends. Its log goes to a file.
import { Component } from '../cluster/component.ts';
import type { Guard } from '../cluster/guard.ts';
import { waitUntilReady } from '../cluster/readiness.ts';
import { onCore } from './cores.ts';

export interface GuardedCommand {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Default: the path of this process, and nothing else. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: any core. */
  readonly core?: number;
  /** Default: `folder`. */
  readonly cwd?: string;
  /** Gets the log. */
  readonly folder: string;
}

export interface GuardedProcess extends AsyncDisposable {
  readonly pid: number;
  /** Rejects when the process ends first, or is not ready in time. */
  readonly ready: (isReady: () => Promise<boolean>) => Promise<void>;
  /** Ends the process as Kubernetes ends a Pod. Disposing kills it. */
  readonly stop: () => Promise<void>;
}

export async function startGuarded(command: GuardedCommand, guard: Guard): Promise<GuardedProcess> {
  const { name, env = {}, core, folder, cwd = folder } = command;
  const words = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const line = ['env', ...words, command.program, ...command.args];
  const [program = '', ...args] = core === undefined ? line : onCore(core, line);
  const component = new Component({ name, program, args, cwd }, folder);
  await component.start(guard, folder);
  const pid = component.process?.pid;
  if (pid === undefined) throw new Error(`${name} did not start`);
  return {
    pid,
    ready: (isReady) => waitUntilReady(component, isReady),
    stop: () => component.stop(),
    [Symbol.asyncDispose]: () => component.stop('SIGKILL'),
  };
}
