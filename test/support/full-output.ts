// Outputs that take no more bytes: a full pipe without a reader, where a write waits for ever, and a full disk, where it fails.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

export interface FullOutput extends AsyncDisposable {
  /** The file descriptor that a process can have as its output. */
  readonly fd: number;
}

export function fullPipe(): FullOutput {
  const path = join(tmpdir(), `full-pipe-${randomUUID()}`);
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  // The pipe is opened a second time, because writes through the first descriptor do not block.
  const fd = openSync(path, constants.O_WRONLY);
  // The last page of the pipe takes bytes that no longer make a whole page.
  for (const bytes of [4096, 1]) fill(reader, Buffer.alloc(bytes, ' '));
  return {
    fd,
    [Symbol.asyncDispose]: async () => {
      for (const each of [reader, fd]) closeSync(each);
      await rm(path);
    },
  };
}

/** https://man7.org/linux/man-pages/man4/full.4.html */
export function fullDisk(): FullOutput {
  const fd = openSync('/dev/full', 'w');
  return {
    fd,
    [Symbol.asyncDispose]: () => {
      closeSync(fd);
      return Promise.resolve();
    },
  };
}

function fill(fd: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(fd, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
}
