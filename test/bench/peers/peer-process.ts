// A program of a peer on the core of the servers, with its own environment, and the memory that it uses.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Component } from '../../cluster/component.ts';
import type { Guard } from '../../cluster/guard.ts';
import { onCore, serverCore } from '../server-process.ts';

export interface PeerProcess extends AsyncDisposable {
  readonly pid: number;
}

export interface PeerCommand {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Gets the log. */
  readonly folder: string;
}

export async function startPeer(command: PeerCommand, guard: Guard): Promise<PeerProcess> {
  const { name, env, folder } = command;
  const words = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const [program, ...args] = onCore(serverCore, ['env', ...words, command.program, ...command.args]);
  const component = new Component({ name, program, args, cwd: folder }, folder);
  await component.start(guard, folder);
  const pid = component.process?.pid;
  if (pid === undefined) throw new Error(`${name} did not start`);
  return { pid, [Symbol.asyncDispose]: () => component.stop('SIGKILL') };
}

/** Lets garbage collectors and caches come to rest. */
export async function idle(): Promise<void> {
  await sleep(idleMs);
}

const idleMs = 15_000;

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}
