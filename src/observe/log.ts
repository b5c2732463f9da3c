// Writes the log as lines of JSON; the only file that knows pino.
import { pino } from 'pino';
import { BatchedOutput } from './batched-output.ts';
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

/** Fields have simple types, so no Kubernetes object can get into the log at any level. */
export function createLog(level: LogLevel, fd: number): Log {
  const output = new BatchedOutput(fd);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: isoTimes(),
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    close: () => output.close(),
  };
}

/** Formats each millisecond once, because a busy webhook writes ten lines in it. */
function isoTimes(): () => string {
  let shownMs = 0;
  let shown = '';
  return () => {
    const now = Date.now();
    if (now !== shownMs) {
      shownMs = now;
      shown = `,"time":"${new Date(now).toISOString()}"`;
    }
    return shown;
  };
}
