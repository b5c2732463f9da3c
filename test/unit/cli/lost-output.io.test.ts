// The exit code of a command whose printed result cannot be written, and after an internal error.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Runs `reeve --help` with this standard output, and closes it. */
function help(output: number): { readonly status: number | null; readonly stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, ['src/main.ts', '--help'], {
    stdio: ['ignore', output, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(output);
  return { status, stderr };
}

test('a command whose result does not fit on the disk ends with 3 and the reason', () => {
  expect(help(openSync('/dev/full', 'w'))).toEqual({
    status: 3,
    stderr: 'cannot write to standard output: ENOSPC\n',
  });
});

test('a reader that closes the pipe early does not make the command fail', () => {
  const path = join(tmpdir(), `lost-output-${randomUUID()}`);
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  closeSync(reader);
  rmSync(path);
  expect(help(writer)).toEqual({ status: 0, stderr: '' });
});

test('an internal error of a command ends with 3, names its class and not its message', () => {
  const broken = `Object.defineProperty(process, 'argv', { get: () => { throw new TypeError('can' + 'ary'); } })`;
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(broken)}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...preload, 'src/main.ts', 'check'], {
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([3, '']);
  expect(stderr).toMatch(/^reeve exits after an internal error: TypeError\n/);
  expect(stderr).not.toContain('canary');
});
