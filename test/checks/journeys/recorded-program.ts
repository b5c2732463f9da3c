// Runs `reeve` in a process of its own that records which files of src it passes.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from '../../support/until.ts';
import type { Order } from './record-files.ts';

const script = join(import.meta.dirname, 'record-files.ts');

export class RecordedProgram {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  #stdout = '';
  #stderr = '';

  constructor(args: readonly string[]) {
    this.#child = fork(script, args, {
      env: { PATH: process.env['PATH'] },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.#exit = once(this.#child, 'close');
  }

  /** Resolves to the ready line once the program reports ready. Rejects when it ends before. */
  async ready(): Promise<string> {
    const line = await this.#readyLine();
    const [probes = ''] = /http:\/\/[\d.:]+/.exec(line) ?? [];
    await until(
      async () => (await fetch(`${probes}/readyz`)).ok,
      () => `ready: ${this.#stderr}`,
    );
    return line;
  }

  /** Starts a journey: forgets the files passed so far. */
  async beginJourney(): Promise<void> {
    await this.#order('forget');
  }

  /** The files passed since the begin of the journey, or of the program. */
  async passedFiles(): Promise<readonly string[]> {
    return await this.#order('report');
  }

  async #readyLine(): Promise<string> {
    const ended = this.#exit.then(() => Promise.reject(new Error(`the program ended: ${this.#stderr}`)));
    ended.catch(() => undefined);
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('the program has no standard output');
    while (!this.#stdout.includes('\n')) await Promise.race([once(stdout, 'data'), ended]);
    return this.#stdout;
  }

  async #order(order: Order): Promise<readonly string[]> {
    const answer = once(this.#child, 'message');
    this.#child.send(order);
    const [files] = (await answer) as [readonly string[]];
    return files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}
