// What every command that runs until it is told to stop has in common: signals, and a log that is written to its end.
import type { Clock } from '../base/clock.ts';
import { createLog, type Log, type LogLevel } from '../observe/log.ts';
import { UnreadablePathError } from '../state/file-problem.ts';
import { StartError } from '../base/start-error.ts';

/** SIGHUP comes when the terminal is closed. */
export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

export interface RunningIo {
  /** One line, once it runs. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly onSignal: (listener: (signal: StopSignal) => void) => void;
  /** Ends the process without waiting for anything. */
  readonly endAtOnce: () => void;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

export interface RunningOptions {
  readonly logLevel: LogLevel;
  /** In milliseconds. */
  readonly drainGrace: number;
}

export interface Running {
  readonly readyLine: string;
  /** Rejects when the program can no longer be relied on; left out where that cannot be. */
  readonly failed?: Promise<never>;
  /** Called once it runs, where it comes to an end by itself: answers with the exit code. */
  readonly ended?: () => Promise<number>;
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

const stderrFd = 2;
/** A terminal signals every process of a group, and npm hands on to its child what it gets: both are one signal. */
const echoMs = 500;

/**
 * Answers with the exit code: 0 stopped as asked, 1 not started, or stopped by a second signal. A start that has to wait
 * rejects with the reason of its signal when it is to stop.
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
  const log = createLog(options.logLevel, stderrFd);
  // What hangs before it runs, and does not heed its signal, cannot be stopped in order.
  const beginning = started(start(log, starting.signal), starting.signal, io);
  const running = await Promise.race([beginning, aborted(hurry.signal)]);
  if (typeof running !== 'object') {
    await log.close();
    return running ?? 1;
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
  // A write that hangs in the kernel would keep the process from ending, and it must end.
  if (!(await log.close())) io.endAtOnce();
  if (hurry.signal.aborted) return 1;
  return typeof ending === 'number' ? ending : 0;
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  signal.addEventListener('abort', () => resolve(undefined), { once: true });
  return await promise;
}

/** Or the exit code. */
async function started(
  starting: Promise<Running>,
  signal: AbortSignal,
  io: RunningIo,
): Promise<Running | number> {
  try {
    return await starting;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return 0;
    if (!(error instanceof StartError || error instanceof UnreadablePathError)) throw error;
    io.stderr(`${error.message}\n`);
    return 1;
  }
}
