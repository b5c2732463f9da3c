// Runs a command until a signal stops it, and writes the log to its end.
import type { Clock } from '../base/clock.ts';
import { type BatchedOutput, createLog, type Log, type LogLevel } from '../observe/log.ts';
import { UnreadablePathError } from '../state/yaml-files.ts';
import { StartError } from '../base/start-error.ts';
import { exitCodes } from './exit-codes.ts';

/** SIGHUP is sent when the terminal is closed. */
export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

export interface RunningIo {
  /** Gets one line when the command is ready. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly onSignal: (listener: (signal: StopSignal) => void) => void;
  /** Receives the lines of the log. */
  readonly logOutput: BatchedOutput;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

export interface RunningOptions {
  readonly logLevel: LogLevel;
  /** Milliseconds. */
  readonly drainGrace: number;
}

export interface Running {
  readonly readyLine: string;
  /** Rejects after an error of the program itself. Omitted if no such error is possible. */
  readonly failed?: Promise<never>;
  /** Called when the program is ready, if it ends by itself. Resolves to the exit code. */
  readonly ended?: () => Promise<number>;
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

/** A terminal signals the whole process group and npm forwards its signal, so two signals within this time are one. */
const echoMs = 500;

/**
 * Returns the exit code: 0 stopped by a signal; 1 stopped by a second signal; 3 not started. A waiting `start` rejects
 * with the reason of its signal when the command must stop.
 */
export async function runUntilStopped(
  options: RunningOptions,
  io: RunningIo,
  start: (log: Log, signal: AbortSignal) => Promise<Running>,
): Promise<number> {
  const stopped = Promise.withResolvers<StopSignal>();
  const starting = new AbortController();
  const hurry = new AbortController();
  let firstAt: number | undefined;
  io.onSignal((signal) => {
    const now = io.clock.monotonic();
    firstAt ??= now;
    if (now - firstAt >= echoMs) hurry.abort();
    stopped.resolve(signal);
    starting.abort();
  });
  const log = await createLog(options.logLevel, io.logOutput);
  if (starting.signal.aborted) return hurry.signal.aborted ? exitCodes.no : exitCodes.done;
  // A start that hangs and ignores its signal cannot be stopped gracefully.
  const beginning = started(start(log, starting.signal), starting.signal, io);
  const running = await Promise.race([beginning, aborted(hurry.signal)]);
  if (typeof running !== 'object') {
    await log.close();
    return running ?? exitCodes.no;
  }
  io.stdout(`${running.readyLine}\n`);
  const ending = await Promise.race([
    stopped.promise,
    ...(running.failed === undefined ? [] : [running.failed]),
    ...(running.ended === undefined ? [] : [running.ended()]),
  ]);
  log.info('stopping', { ending });
  await running.stop(ending === 'SIGTERM' ? options.drainGrace : 0, hurry.signal);
  log.info('stopped');
  await log.close();
  if (hurry.signal.aborted) return exitCodes.no;
  return typeof ending === 'number' ? ending : exitCodes.done;
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  signal.addEventListener('abort', () => resolve(undefined), { once: true });
  return await promise;
}

/** Returns the running program, or the exit code if it did not start. */
async function started(
  starting: Promise<Running>,
  signal: AbortSignal,
  io: RunningIo,
): Promise<Running | number> {
  try {
    return await starting;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return exitCodes.done;
    if (!(error instanceof StartError || error instanceof UnreadablePathError)) throw error;
    io.stderr(`${error.message}\n`);
    return exitCodes.unknown;
  }
}
