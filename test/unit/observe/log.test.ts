// Checks that the log is lines of JSON at the chosen level.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../../src/observe/log.ts';
import type { LogLevel } from '../../../src/observe/log-level.ts';

async function linesAt(level: LogLevel): Promise<readonly unknown[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'log');
  const fd = openSync(path, 'w');
  const log = createLog(level, fd);
  log.debug('a', { number: 1 });
  log.info('b', { text: 'line\nbreak', list: ['x'] });
  log.warn('c');
  log.error('d', { yes: true });
  await log.close();
  closeSync(fd);
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

test('each entry is one line of JSON with the time, and without data about the machine', async () => {
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown;
  expect(await linesAt('debug')).toEqual([
    { level: 'debug', time, msg: 'a', number: 1 },
    { level: 'info', time, msg: 'b', text: 'line\nbreak', list: ['x'] },
    { level: 'warn', time, msg: 'c' },
    { level: 'error', time, msg: 'd', yes: true },
  ]);
});

test.each([
  ['trace', 4],
  ['info', 3],
  ['warn', 2],
  ['error', 1],
  ['silent', 0],
] as const)('the level %s writes %i of four entries', async (level, count) => {
  expect(await linesAt(level)).toHaveLength(count);
});
