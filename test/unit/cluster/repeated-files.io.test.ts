// What `.ci/run` does when tests fail: files on real control planes run once more at the end, everything else fails the run.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { filesToRepeat, repeatVerdict, type RepeatedFile } from '../../support/repeated-files.ts';

const root = resolve(import.meta.dirname, '../../..');
const failed = (project: string, file = 'test/e2e/faults.test.ts'): RepeatedFile => ({
  project,
  file,
  error: 'not within 60 s',
});

test.each<readonly [string, readonly RepeatedFile[], boolean, number]>([
  ['a run without a failure repeats nothing', [], false, 0],
  ['files on real control planes and nodes run once more', [failed('own-planes'), failed('node')], false, 2],
  [
    'a file of another project is never repeated, nor is any file beside it',
    [failed('own-planes'), failed('quick')],
    false,
    0,
  ],
  ['an error outside of all tests repeats nothing', [failed('own-planes')], true, 0],
])('%s', (_, files, hasOtherErrors, count) => {
  expect(filesToRepeat(files, hasOtherErrors)).toHaveLength(count);
});

test('four files that failed once fail the run', () => {
  const files = ['a', 'b', 'c', 'd'].map((name) => failed('alone', name));
  expect(repeatVerdict(files, []).isWell).toBe(false);
  expect(repeatVerdict(files.slice(1), [true, true, true])).toMatchObject({ isWell: true });
});

/** Runs `.ci/run` with stubs of npm and vitest: `npm test` notes a file, or fails without a note. `broken`: a script that fails. */
function runCi(first: 'passes' | 'notes' | 'fails', second: 'passes' | 'fails', broken = 'none') {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-ci-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of ['.ci/run', 'test/support/once-more.ts', 'test/support/repeated-files.ts'])
    cpSync(join(root, path), join(folder, path));
  const bin = join(folder, 'node_modules/.bin');
  const npm = join(folder, 'npm');
  for (const each of [bin, npm]) mkdirSync(each, { recursive: true });
  symlinkSync(process.execPath, join(bin, 'node'));
  const script = (path: string, ...lines: readonly string[]): void => {
    writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
    chmodSync(path, 0o755);
  };
  const note = JSON.stringify(failed('own-planes'));
  const ends = { passes: [], notes: [`echo '${note}' >>"$REEVE_REPEAT_LATER"; exit 1`], fails: ['exit 1'] };
  script(
    join(npm, 'npm'),
    `case "$*" in *${broken}) exit 1 ;; esac`,
    `case "$1" in test) echo '2 passed, ${first === 'fails' ? 1 : 0} failed, 0 skipped'; ${ends[first].join('')} ;; esac`,
  );
  script(
    join(bin, 'vitest'),
    `echo "again $*" "\${REEVE_REPEAT_LATER-alone}"`,
    `[ "$(command -v node)" = ${bin}/node ] || echo 'another node'`,
    `echo '3 passed, ${second === 'fails' ? 1 : 0} failed, 0 skipped'`,
    ...ends[second],
  );
  const env = { ...process.env, PATH: `${npm}:${process.env['PATH'] ?? ''}` };
  const { status, stdout } = spawnSync('bash', [join(folder, '.ci/run')], { env, encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n') };
}

test('a run without a failure ends with the sum, and repeats nothing', () => {
  expect(runCi('passes', 'fails')).toEqual({
    status: 0,
    lines: ['2 passed, 0 failed, 0 skipped', '2 passed, 0 failed, 0 skipped'],
  });
});

test('a file that fails once is repeated alone, named as flaky with its first error, and counted', () => {
  const { status, lines } = runCi('notes', 'passes');
  expect(status).toBe(0);
  expect(lines).toContain('again run --project own-planes test/e2e/faults.test.ts alone');
  expect(lines.slice(-2)).toEqual([
    'flaky, to be mended next: test/e2e/faults.test.ts (own-planes) failed once: not within 60 s',
    '5 passed, 0 failed, 0 skipped',
  ]);
  expect(lines).not.toContain('another node');
});

test('a file that fails twice fails the run', () => {
  const { status, lines } = runCi('notes', 'fails');
  expect(status).toBe(1);
  expect(lines.at(-1)).toBe('failed twice: test/e2e/faults.test.ts (own-planes): not within 60 s');
});

test.each(['test:alone', 'test:image', 'test:node'])(
  'a failure of %s that nothing notes ends the run after the run beside it',
  (broken) => {
    const { status, lines } = runCi('notes', 'passes', broken);
    expect({ status, lines }).toEqual({ status: 1, lines: ['2 passed, 0 failed, 0 skipped'] });
  },
);

test('a failure that nothing notes ends the run at once', () => {
  expect(runCi('fails', 'passes')).toEqual({ status: 1, lines: ['2 passed, 1 failed, 0 skipped'] });
});
