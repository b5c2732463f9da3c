// One process of the control plane: started under the guard, with its output in a log file, and ended by its own pid.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard } from './guard.ts';
import { endProcess, identify, isRunning, signalProcess } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

export interface ComponentCommand {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** The working directory. The component does not get the environment of this process. */
  readonly cwd: string;
}

// A component that runs longer than this is killed. kube-apiserver takes 2 s plus the time of its open requests.
const patienceMs = 20_000;

export class Component {
  readonly #command: ComponentCommand;
  readonly #logFile: string;
  #process: ProcessIdentity | undefined;

  constructor(command: ComponentCommand, folder: string) {
    this.#command = command;
    this.#logFile = join(folder, `${command.name}.log`);
  }

  get name(): string {
    return this.#command.name;
  }

  /** The process of the last start. */
  get process(): ProcessIdentity | undefined {
    return this.#process;
  }

  get isRunning(): boolean {
    return this.#process !== undefined && isRunning(this.#process);
  }

  /** The shell waits for a line from this process, so that the guard knows the pid before the component runs. */
  async start(guard: Guard, home: string): Promise<void> {
    if (this.isRunning) throw new Error(`${this.name} runs already`);
    const { name, program, args, cwd } = this.#command;
    const log = openSync(this.#logFile, 'a', 0o600);
    const child = spawn('/bin/sh', ['-c', 'read -r _ && exec "$@"', name, program, ...args], {
      cwd,
      detached: true,
      // CPU is scarcer than memory on test machines. https://pkg.go.dev/runtime#hdr-Environment_Variables
      env: { PATH: process.env['PATH'], HOME: home, GOGC: '200' },
      stdio: ['pipe', log, log],
    });
    closeSync(log);
    child.on('error', () => undefined);
    child.stdin?.on('error', () => undefined);
    child.unref();
    this.#process = child.pid === undefined ? undefined : identify(child.pid);
    if (this.#process === undefined) throw new Error(`${name} could not be started`);
    await guard.watch(this.#process);
    child.stdin?.end('\n');
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (this.#process !== undefined) await endProcess(this.#process, signal === 'SIGKILL' ? 0 : patienceMs);
  }

  /** Stops the process as on a machine that hangs: its connections stay open and get no answer. */
  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  #signal(signal: NodeJS.Signals): void {
    const sent = this.#process !== undefined && signalProcess(this.#process, signal);
    if (!sent) throw new Error(`${this.name} does not run`);
  }
}
