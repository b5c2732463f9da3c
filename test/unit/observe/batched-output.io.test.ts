// Checks that lines are bounded when nothing reads them, and that the reader gets whole lines in their order afterwards.
import { closeSync, openSync, readFileSync, readSync, rmSync, constants } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { BatchedOutput } from '../../../src/observe/log.ts';

const mebibyte = 1024 * 1024;

interface Pipe {
  readonly writer: number;
  /** Returns what is in the pipe now. */
  readonly read: () => Buffer;
  readonly closeReader: () => void;
}

function pipe(): Pipe {
  const path = join(tmpdir(), `batched-output-${randomUUID()}`);
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  rmSync(path);
  onTestFinished(() => closeSync(writer));
  const bytes = Buffer.alloc(mebibyte);
  return {
    writer,
    read: () => {
      try {
        return Buffer.from(bytes.subarray(0, readSync(reader, bytes)));
      } catch {
        return Buffer.alloc(0);
      }
    },
    closeReader: () => closeSync(reader),
  };
}

/** A test decides when the timers of an output run. */
function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Each line has its number, and characters of more than one byte. */
function line(number: number): string {
  return `${number} ${'é'.repeat(100)}\n`;
}

test('when nothing reads, later lines are dropped, and the reader then gets the first lines complete', async () => {
  const { writer, read, closeReader } = pipe();
  onTestFinished(closeReader);
  const output = new BatchedOutput(writer);
  const written = 50_000;
  for (let number = 0; number < written; number++) output.write(line(number));
  await output.close();
  const parts: Buffer[] = [];
  const state = { isClosed: false };
  const closed = output.close().finally(() => (state.isClosed = true));
  while (!state.isClosed) {
    parts.push(read());
    await setImmediate();
  }
  await closed;
  const text = Buffer.concat([...parts, read()]).toString();
  const lines = text.split('\n').slice(0, -1);
  expect(lines).toEqual(Array.from({ length: lines.length }, (_, number) => line(number).trimEnd()));
  expect(lines.length).toBeLessThan(written);
  expect(text.length).toBeGreaterThan(mebibyte / 2);
  expect(text.length).toBeLessThan(1.2 * mebibyte);
});

test.each([
  ['gets all lines', 100, 1700, true],
  ['cannot hold the process for more than five seconds', 400, 5000, false],
] as const)('at the end, a reader that is slow %s', async (_what, everyMs, maxMs, getsAll) => {
  fakeTimers();
  const { writer, read, closeReader } = pipe();
  onTestFinished(closeReader);
  const output = new BatchedOutput(writer);
  const text = `${'x'.repeat(1023)}\n`;
  const lines = 1000;
  for (let number = 0; number < lines; number++) output.write(text);
  const state = { isClosed: false };
  const closed = output.close().finally(() => (state.isClosed = true));
  let received = 0;
  let passedMs = 0;
  for (; !state.isClosed; passedMs += everyMs) {
    received += read().length;
    await vi.advanceTimersByTimeAsync(everyMs);
  }
  await closed;
  received += read().length;
  expect(passedMs).toBeGreaterThan(500);
  expect(passedMs).toBeLessThan(maxMs + everyMs);
  expect(received === lines * text.length).toBe(getsAll);
});

test('after its reader has closed the pipe, lines are dropped without an error', async () => {
  const { writer, closeReader } = pipe();
  const output = new BatchedOutput(writer);
  closeReader();
  for (let number = 0; number < 1000; number++) output.write(line(number));
  await expect(output.close()).resolves.toBeUndefined();
});

test('a batch of 16 KiB is written at once, and a shorter one after a tenth of a second', () => {
  fakeTimers();
  const { writer, read, closeReader } = pipe();
  onTestFinished(closeReader);
  const output = new BatchedOutput(writer);
  output.write('short\n');
  expect(read().toString()).toBe('');
  vi.advanceTimersByTime(100);
  expect(read().toString()).toBe('short\n');
  const long = 'x'.repeat(16 * 1024);
  output.write(long);
  expect(read().toString()).toBe(long);
});

test('after its reader was behind once, the output is as fast as before', () => {
  fakeTimers();
  const { writer, read, closeReader } = pipe();
  onTestFinished(closeReader);
  const output = new BatchedOutput(writer);
  const text = `${'x'.repeat(249)}\n`;
  let [written, received] = [0, 0];
  const write = (lines: number): void => {
    for (let each = 0; each < lines; each++) output.write(text);
    written += lines * text.length;
  };
  // More than a pipe holds.
  write(400);
  // Two megabytes a second, for three seconds.
  for (let turn = 0; turn < 300; turn++) {
    write(80);
    received += read().length;
    vi.advanceTimersByTime(10);
  }
  // No further line: the rest must not wait for it.
  for (let turn = 0; turn < 20; turn++) {
    vi.advanceTimersByTime(10);
    received += read().length;
  }
  expect(output.dropped).toBe(0);
  expect(received).toBe(written);
});

test('dropped lines are counted, and reported after the last line before them', () => {
  fakeTimers();
  const { writer, read, closeReader } = pipe();
  onTestFinished(closeReader);
  const output = new BatchedOutput(writer);
  output.onDropped = (count) => output.write(`dropped ${count}\n`);
  for (let number = 0; number < 20_000; number++) output.write(line(number));
  const { dropped } = output;
  expect(dropped).toBeGreaterThan(0);
  const parts: Buffer[] = [];
  for (let turn = 0; turn < 100; turn++) {
    parts.push(read());
    vi.advanceTimersByTime(10);
  }
  output.write(line(20_000));
  vi.advanceTimersByTime(100);
  const lines = Buffer.concat([...parts, read()])
    .toString()
    .split('\n')
    .slice(0, -1);
  const kept = 20_000 - dropped;
  expect(lines.slice(kept - 1)).toEqual([
    line(kept - 1).trimEnd(),
    `dropped ${dropped}`,
    line(20_000).trimEnd(),
  ]);
});

test('a line after the end is written at once', async () => {
  const { writer, read, closeReader } = pipe();
  onTestFinished(closeReader);
  const output = new BatchedOutput(writer);
  await output.close();
  output.write('late\n');
  expect(read().toString()).toBe('late\n');
});

test('lines wait while a disk is full, and do not keep the process from its end', async () => {
  const fullDisk = openSync('/dev/full', 'w');
  const output = new BatchedOutput(fullDisk);
  output.write('a\n');
  await output.close();
  const path = join(tmpdir(), `batched-output-${randomUUID()}`);
  onTestFinished(() => rmSync(path));
  closeSync(fullDisk);
  // The kernel gives the lowest free number, so the output now writes to a disk with room.
  expect(openSync(path, 'w')).toBe(fullDisk);
  onTestFinished(() => closeSync(fullDisk));
  output.write('b\n');
  await output.close();
  expect(readFileSync(path, 'utf8')).toBe('a\nb\n');
});
