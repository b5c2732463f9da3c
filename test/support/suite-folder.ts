// A folder of its own for tests that let `reeve test` write suites.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { reeveTest } from './run-suites.ts';

export class SuiteFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'reeve-suites-'));

  copy(from: string, name: string): void {
    cpSync(from, join(this.path, name), { recursive: true });
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    writeFileSync(join(this.path, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8');
  }

  /** Runs `reeve test` with these flags on a path in the folder. What it prints names the folder `~`. */
  async run(name: string, ...flags: readonly string[]) {
    const { code, stdout, stderr } = await reeveTest([join(this.path, name), ...flags]);
    const short = (text: string): string => text.replaceAll(this.path, '~');
    return { code, stdout: short(stdout), stderr: short(stderr) };
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}
