// Sets the time of day in a process of Reeve, at its start and while it runs.
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

  /** The environment variables that the process needs. */
  get env(): Readonly<Record<string, string>> {
    const module = join(import.meta.dirname, 'shifted-clock.ts');
    return { NODE_OPTIONS: `--import=${module}`, CLOCK_FILE: this.#file };
  }

  /** Shifts the clock of the process by this time. The shift takes effect at the latest when the process next does anything. */
  async shift(process: Signaled, milliseconds: number): Promise<void> {
    await writeFile(this.#file, String(milliseconds));
    process.kill('SIGUSR2');
  }
}
