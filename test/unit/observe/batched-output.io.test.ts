// Checks that lines are bounded when nothing reads them, and that the reader gets whole lines in their order afterwards.
import { closeSync, openSync, readSync, rmSync, constants } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { BatchedOutput } from '../../../src/observe/batched-output.ts';

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
  expect(await output.close()).toBe(false);
  const parts: Buffer[] = [];
  const state = { isClosed: false };
  const closed = output.close().finally(() => (state.isClosed = true));
  while (!state.isClosed) {
    parts.push(read());
    await setImmediate();
  }
  expect(await closed).toBe(true);
  const text = Buffer.concat([...parts, read()]).toString();
  const lines = text.split('\n').slice(0, -1);
  expect(lines).toEqual(Array.from({ length: lines.length }, (_, number) => line(number).trimEnd()));
  expect(lines.length).toBeLessThan(written);
  expect(text.length).toBeGreaterThan(mebibyte / 2);
  expect(text.length).toBeLessThan(1.2 * mebibyte);
});

test('after its reader has closed the pipe, lines are dropped without an error', async () => {
  const { writer, closeReader } = pipe();
  const output = new BatchedOutput(writer);
  closeReader();
  for (let number = 0; number < 1000; number++) output.write(line(number));
  expect(await output.close()).toBe(true);
});
