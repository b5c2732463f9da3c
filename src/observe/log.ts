// Writes the log as lines of JSON; the only file that knows pino.
import { pino, stdTimeFunctions } from 'pino';
import type { LogLevel } from './log-level.ts';
import type { BatchedOutput } from './batched-output.ts';

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

/** Fields have simple types, so no Kubernetes object can get into the log at any level. */
export function createLog(level: LogLevel, output: BatchedOutput): Log {
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
