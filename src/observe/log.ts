// Writes the log as lines of JSON; the only file that knows pino.
import { pino } from 'pino';
import type { LogLevel } from './log-level.ts';

type Field = string | number | boolean | readonly string[];

export interface Log {
  info(message: string, fields?: Readonly<Record<string, Field>>): void;
  warn(message: string, fields?: Readonly<Record<string, Field>>): void;
  error(message: string, fields?: Readonly<Record<string, Field>>): void;
  debug(message: string, fields?: Readonly<Record<string, Field>>): void;
  /** Waits until all lines are written. Returns false when nothing reads them and the wait is over. */
  close(): Promise<boolean>;
}

/** The most to buffer when nothing reads the log. Further lines are dropped, because answering matters more. */
const maxBufferedBytes = 1024 * 1024;
const closeMs = 500;
/** Lines are written in batches: a write for every line would cost a tenth of the time of a decision. */
const batchBytes = 4096;
const batchMs = 100;

/** Fields have simple types, so no Kubernetes object can get into the log at any level. */
export function createLog(level: LogLevel, fd: number): Log {
  const destination = pino.destination({
    fd,
    sync: false,
    maxLength: maxBufferedBytes,
    minLength: batchBytes,
    periodicFlush: batchMs,
  });
  // A closed pipe must not end the server.
  destination.on('error', () => undefined);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    close: () => flushed((done) => destination.flush(done)),
  };
}

async function flushed(flush: (done: () => void) => void): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, closeMs, false);
  flush(() => resolve(true));
  const isFlushed = await promise;
  clearTimeout(timer);
  return isFlushed;
}
