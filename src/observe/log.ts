// Writes the log as lines of JSON in batches, and limits what it says of an unexpected error. The only file that knows pino.
import { writeSync } from 'node:fs';
import type { LevelWithSilent } from 'pino';
import { errorCode } from '../base/kube-error.ts';

type Field = string | number | boolean | readonly string[];

export interface Log {
  info(message: string, fields?: Readonly<Record<string, Field>>): void;
  warn(message: string, fields?: Readonly<Record<string, Field>>): void;
  error(message: string, fields?: Readonly<Record<string, Field>>): void;
  debug(message: string, fields?: Readonly<Record<string, Field>>): void;
  /** Waits until all lines are written, or nothing reads them. */
  close(): Promise<void>;
  /** The number of lines that were dropped, because their reader was too slow or a disk was full. */
  dropped(): number;
}

export type LogLevel = Exclude<LevelWithSilent, 'fatal'>;

/**
 * Fields have simple types, so no Kubernetes object can get into the log at any level. The library is loaded here, because commands
 * that write no log load this file, too.
 */
export async function createLog(level: LogLevel, output: BatchedOutput): Promise<Log> {
  const { pino, stdTimeFunctions } = await import('pino');
  const logger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  output.onDropped = (lines) =>
    logger.warn({ lines }, 'log lines were dropped, because their reader was too slow or a disk was full');
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    close: () => output.close(),
    dropped: () => output.dropped,
  };
}

// Writes lines in batches to a file descriptor, and never waits for the reader of a pipe.

/** The maximum to buffer when nothing reads the lines. Further lines are dropped, because answering matters more. */
const maxBuffered = 1024 * 1024;
/** A pipe holds 64 KiB, so a batch still has room while its reader is a little behind. */
const defaultBatchLength = 16 * 1024;
const batchMs = 100;
const retryMs = 10;
/** How long the end waits for a reader that takes nothing. It waits `maxEndMs` for a slow reader. */
const idleEndMs = 500;
const maxEndMs = 5000;

/**
 * A write for each line would cost a tenth of the time of a decision. A write on another thread would cost more, and its
 * end would be unknown when the process must exit. The descriptor of a pipe must be non-blocking: Node makes it so when
 * `process.stderr` is first used.
 */
export class BatchedOutput {
  readonly #fd: number;
  #lines = '';
  /** The part of the last batch that a full pipe has not taken. */
  #rest = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  #batchLength = defaultBatchLength;
  #dropped = 0;
  /** The number of bytes that the reader or the kernel has taken. */
  #taken = 0;
  #unreported = 0;
  #onDropped: (count: number) => void = () => undefined;
  readonly #atExit = (): void => this.#writeBeforeExit();

  constructor(fd: number) {
    this.#fd = fd;
    process.on('exit', this.#atExit);
  }

  /** The number of lines for which there was no room. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The listener may write a line. That line follows the last line before the dropped ones. */
  set onDropped(listener: (count: number) => void) {
    this.#onDropped = listener;
  }

  write(line: string): void {
    if (this.#lines.length + line.length > maxBuffered) {
      this.#dropped += 1;
      this.#unreported += 1;
      return;
    }
    this.#lines += line;
    // The rest of a batch is tried again by its own timer.
    if (this.#rest.length > 0) return;
    if (this.#lines.length >= this.#batchLength) this.#writeAll();
    else this.#writeLater(batchMs);
  }

  /** Waits until all lines are written, or until nothing reads them. Later lines are written without a batch. */
  async close(): Promise<void> {
    process.off('exit', this.#atExit);
    this.#batchLength = 0;
    for (const ms of this.#waits()) await new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** The process exits when this returns, so the wait must block. */
  #writeBeforeExit(): void {
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    for (const ms of this.#waits()) Atomics.wait(nothing, 0, 0, ms);
  }

  /** Writes, and returns how long to wait before the next attempt, until all is written or no attempt is left. */
  *#waits(): Generator<number> {
    let taken = this.#taken;
    let idleMs = 0;
    for (let ms = 0; ms < maxEndMs && idleMs < idleEndMs && !this.#writeAll(); ms += retryMs) {
      idleMs = taken === this.#taken ? idleMs + retryMs : 0;
      taken = this.#taken;
      yield retryMs;
    }
  }

  #writeLater(ms: number): void {
    this.#timer ??= setTimeout(() => this.#writeAll(), ms).unref();
  }

  /** Returns false while a pipe or a disk is full. */
  #writeAll(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      while (this.#rest.length > 0 || this.#lines !== '') this.#writeOnce();
      return true;
    } catch (error) {
      if (errorCode(error) === 'EPIPE') {
        // Nothing will ever read a closed pipe. The program goes on without a log.
        this.#lines = '';
        this.#rest = Buffer.alloc(0);
        return true;
      }
      // A reader that pauses once must not slow all later batches down to one pipe for each `batchMs`.
      this.#writeLater(retryMs);
      return false;
    }
  }

  #writeOnce(): void {
    if (this.#rest.length === 0) {
      this.#rest = Buffer.from(this.#lines);
      this.#lines = '';
      this.#reportDropped();
    }
    const taken = writeSync(this.#fd, this.#rest);
    this.#taken += taken;
    this.#rest = this.#rest.subarray(taken);
  }

  #reportDropped(): void {
    const count = this.#unreported;
    this.#unreported = 0;
    if (count > 0) this.#onDropped(count);
  }
}

// Returns what may be logged of an unexpected error: its class and its stack, never its message.

interface ErrorTrace {
  readonly error: string;
  /** Lines of the stack without the message, which may quote user data. */
  readonly frames: readonly string[];
}

const maxFrames = 8;

export function traceOf(error: unknown): ErrorTrace {
  if (!(error instanceof Error)) return { error: typeof error, frames: [] };
  return { error: error.constructor.name, frames: framesOf(error) };
}

/** The stack starts with the message, which may have several lines. Any other stack is left out. */
function framesOf({ name, message, stack }: Error): readonly string[] {
  const head = message === '' ? name : `${name}: ${message}`;
  if (stack?.startsWith(`${head}\n`) !== true) return [];
  return stack
    .slice(head.length + 1)
    .split('\n')
    .slice(0, maxFrames)
    .map((line) => line.trim());
}
