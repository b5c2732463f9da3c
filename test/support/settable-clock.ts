// The time of day in a process of Reeve: what it is started with, and how it is set afterwards.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Signaled {
  kill(signal: NodeJS.Signals): void;
}

export class SettableClock {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, `clock-${randomUUID()}`);
  }

  /** What the process needs in its environment. */
  get env(): Readonly<Record<string, string>> {
    const module = join(import.meta.dirname, 'shifted-clock.ts');
    return { NODE_OPTIONS: `--import=${module}`, CLOCK_FILE: this.#file };
  }

  /** From now on it says so much later than it is, or earlier; at the latest when it next does anything. */
  async shift(process: Signaled, milliseconds: number): Promise<void> {
    await writeFile(this.#file, String(milliseconds));
    process.kill('SIGUSR2');
  }
}
