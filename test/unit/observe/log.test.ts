// Checks that the log is lines of JSON at the chosen level.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { BatchedOutput, createLog, type Log, type LogLevel } from '../../../src/observe/log.ts';
import { countDroppedLines, MetricsRegistry } from '../../../src/observe/registry.ts';

/** Returns the lines that `write` adds to a log. */
async function linesOf(level: LogLevel, write: (log: Log) => void): Promise<readonly unknown[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'log');
  const fd = openSync(path, 'w');
  const log = await createLog(level, new BatchedOutput(fd));
  write(log);
  await log.close();
  closeSync(fd);
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

async function linesAt(level: LogLevel): Promise<readonly unknown[]> {
  return await linesOf(level, (log) => {
    log.debug('a', { number: 1 });
    log.info('b', { text: 'line\nbreak', list: ['x'] });
    log.warn('c');
    log.error('d', { yes: true });
  });
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

test('each line has the time at which it was logged', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const lines = await linesOf('info', (log) => {
    for (const ms of [1, 1, 2, 1002]) {
      vi.setSystemTime(ms);
      log.info('a');
    }
  });
  expect(lines).toMatchObject([
    { time: '1970-01-01T00:00:00.001Z' },
    { time: '1970-01-01T00:00:00.001Z' },
    { time: '1970-01-01T00:00:00.002Z' },
    { time: '1970-01-01T00:00:01.002Z' },
  ]);
});

test('the log says how many lines it had to drop', async () => {
  // A full disk, and then one with room: the kernel gives the lowest free number.
  const fd = openSync('/dev/full', 'w');
  const log = await createLog('info', new BatchedOutput(fd));
  const registry = new MetricsRegistry();
  countDroppedLines(registry, log);
  const count = 2000;
  for (let each = 0; each < count; each++) log.info('x'.repeat(1000));
  const dropped = log.dropped();
  expect(dropped).toBeGreaterThan(0);
  expect(dropped).toBeLessThan(count);
  expect(await registry.render()).toContain(`reeve_log_dropped_lines_total ${dropped}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'reeve-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'log');
  closeSync(fd);
  expect(openSync(path, 'w')).toBe(fd);
  await log.close();
  closeSync(fd);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(count - dropped + 1);
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'warn', lines: dropped });
});
