// The log: one line of JSON for each decision, and lines for what happens to the server; the only file that knows pino.
import { pino } from 'pino';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

type Field = string | number | boolean | readonly string[];

export interface Log {
  info(message: string, fields?: Readonly<Record<string, Field>>): void;
  warn(message: string, fields?: Readonly<Record<string, Field>>): void;
  error(message: string, fields?: Readonly<Record<string, Field>>): void;
  debug(message: string, fields?: Readonly<Record<string, Field>>): void;
  /** Waits until what was logged is written; false when the reader does not read, and nobody waits any longer. */
  close(): Promise<boolean>;
}

/** What waits to be written when nobody reads; more is dropped, because answering matters more than logging. */
const mostBufferedBytes = 1024 * 1024;
const closeMs = 500;
/** A write for every line would cost a tenth of the time of a decision, so lines are written together. */
const batchBytes = 4096;
const batchMs = 100;

/** Fields are texts, numbers and names of rules: an object can never get in, whatever the level. */
export function createLog(level: LogLevel, fd: number): Log {
  const destination = pino.destination({
    fd,
    sync: false,
    maxLength: mostBufferedBytes,
    minLength: batchBytes,
    periodicFlush: batchMs,
  });
  // A reader that goes away must not end the server.
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
