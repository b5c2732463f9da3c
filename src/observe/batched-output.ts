// Writes lines in batches to a file descriptor, and never waits for the reader of a pipe.
import { writeSync } from 'node:fs';
import { errorCode } from '../base/error-code.ts';

/** The maximum to buffer when nothing reads the lines. Further lines are dropped, because answering matters more. */
const maxBuffered = 1024 * 1024;
/** A pipe holds 64 KiB, so that a batch still has room while its reader is a little behind. */
const batchLength = 16 * 1024;
const batchMs = 100;
const endMs = 500;
const retryMs = 10;

/**
 * A write for each line would cost a tenth of the time of a decision. A write on another thread would cost more, and its
 * end would be unknown when the process must exit. The descriptor of a pipe must be non-blocking: Node makes it so when
 * `process.stderr` is first used.
 */
export class BatchedOutput {
  readonly #fd: number;
  #lines = '';
  /** What a full pipe has not taken of the last batch. */
  #rest = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  readonly #atExit = (): void => this.#writeBeforeExit();

  constructor(fd: number) {
    this.#fd = fd;
    process.on('exit', this.#atExit);
  }

  write(line: string): void {
    if (this.#lines.length + line.length > maxBuffered) return;
    this.#lines += line;
    if (this.#lines.length >= batchLength && this.#rest.length === 0) this.#writeAll();
    else this.#writeLater();
  }

  /** Returns false when nothing reads the lines and the wait is over. */
  async close(): Promise<boolean> {
    process.off('exit', this.#atExit);
    for (let waitedMs = 0; !this.#writeAll(); waitedMs += retryMs) {
      if (waitedMs >= endMs) return false;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
    return true;
  }

  /** The process exits when this returns, so the wait must block. */
  #writeBeforeExit(): void {
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    for (let waitedMs = 0; waitedMs < endMs && !this.#writeAll(); waitedMs += retryMs) {
      Atomics.wait(nothing, 0, 0, retryMs);
    }
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => this.#writeAll(), batchMs).unref();
  }

  /** Returns false while a pipe is full. */
  #writeAll(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      while (this.#rest.length > 0 || this.#lines !== '') this.#writeOnce();
      return true;
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') {
        this.#writeLater();
        return false;
      }
      // Nothing will ever read a closed pipe. The program goes on without a log.
      this.#lines = '';
      this.#rest = Buffer.alloc(0);
      return true;
    }
  }

  #writeOnce(): void {
    if (this.#rest.length === 0) {
      this.#rest = Buffer.from(this.#lines);
      this.#lines = '';
    }
    this.#rest = this.#rest.subarray(writeSync(this.#fd, this.#rest));
  }
}
