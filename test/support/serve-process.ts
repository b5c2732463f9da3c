// Runs the real command in a process of its own, and keeps everything that the process prints.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Child = ChildProcessByStdio<null, Readable, Readable | null>;

/** Processes to end at exit. A suite that fails while it prepares never stops the processes it has started. */
const running = new Set<Child>();
const endAll = (): void => running.forEach((child) => child.kill('SIGKILL'));
process.once('exit', endAll);
// vitest ends its workers with this signal, which otherwise ends them without the event.
process.once('SIGTERM', () => {
  endAll();
  process.kill(process.pid, 'SIGTERM');
});

/** The compile cache of `npm start` too. Without it, compiling the same files again takes half of a start. */
export const compileCache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'node');

/** Runs `node src/main.ts` with these arguments, without the environment of the person who runs the tests. */
export class ReeveProcess {
  readonly #child: Child;
  readonly #exit: Promise<number | null>;
  readonly #text = { stdout: '', stderr: '' };

  /** `log`: the file descriptor that receives the log. The log is then not kept here. */
  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    log: 'pipe' | number = 'pipe',
  ) {
    this.#child = spawn(process.execPath, ['src/main.ts', ...args], {
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCache, ...env },
      stdio: ['ignore', 'pipe', log],
    }) as Child;
    const { stdout, stderr } = this.#child;
    stdout.setEncoding('utf8').on('data', (text: string) => (this.#text.stdout += text));
    stderr?.setEncoding('utf8').on('data', (text: string) => (this.#text.stderr += text));
    running.add(this.#child);
    this.#exit = once(this.#child, 'close').then(() => {
      running.delete(this.#child);
      return this.#child.exitCode;
    });
  }

  get stdout(): string {
    return this.#text.stdout;
  }

  get stderr(): string {
    return this.#text.stderr;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async ended(): Promise<Output> {
    const code = await this.#exit;
    return { code, ...this.#text };
  }

  /** Returns the ports of the ready line. Rejects when the process ends before that line. */
  async ready(): Promise<{ readonly port: number; readonly probesPort: number }> {
    const ended = this.#exit.then(() => Promise.reject(new Error(`it ended: ${this.stderr}`)));
    while (!this.stdout.includes('\n')) await Promise.race([once(this.#child.stdout, 'data'), ended]);
    ended.catch(() => undefined);
    const [, port, probesPort] = /https:\/\/[^/]*:(\d+)\/.*http:\/\/[^/]*:(\d+)\)/.exec(this.stdout) ?? [];
    return { port: Number(port), probesPort: Number(probesPort) };
  }

  /** Ends the process in any state, so that no test leaves a process behind. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}

export interface TestFolder extends AsyncDisposable {
  readonly path: string;
}

/** Creates a temporary folder with these files. */
export async function folderOf(files: Readonly<Record<string, string>>): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'reeve-serve-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
