// Controls the watchdog, so that no process and no folder outlives this process, however this process ends.
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { ProcessIdentity } from './process-identity.ts';
import type { WatchdogMessage } from './watchdog.ts';

export class Guard {
  readonly #watchdog: ChildProcessByStdio<Writable, null, null>;

  /** The watchdog removes the folder, if one is given, after it has ended the last process. */
  constructor(folder?: string) {
    const script = join(import.meta.dirname, 'watchdog.ts');
    // A session of its own lets the watchdog survive a signal that ends the whole process group.
    this.#watchdog = spawn(process.execPath, folder === undefined ? [script] : [script, folder], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#watchdog.on('error', () => undefined);
    this.#watchdog.stdin.on('error', () => undefined);
    this.#watchdog.unref();
  }

  get pid(): number | undefined {
    return this.#watchdog.pid;
  }

  /** Resolves when the watchdog knows the process. From then on the process cannot outlive this one. */
  watch(identity: ProcessIdentity): Promise<void> {
    return this.#tell({ kind: 'watch', process: identity });
  }

  /** Lets the watched processes outlive this process. */
  async release(): Promise<void> {
    await this.#tell({ kind: 'release' });
    this.#watchdog.stdin.end();
  }

  /** Ends the watchdog. All watched processes must have ended. */
  async end(): Promise<void> {
    if (this.#watchdog.exitCode !== null || this.#watchdog.signalCode !== null) return;
    this.#watchdog.ref();
    const ended = once(this.#watchdog, 'exit');
    await this.release();
    await ended;
  }

  #tell(message: WatchdogMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#watchdog.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(new Error('the watchdog of the control plane does not run'));
        else resolve();
      });
    });
  }
}
