// The command `reeve serve`: answers admission reviews until it is told to stop.
import { createLog, type LogLevel } from '../observe/log.ts';
import { renderFileProblem, UnreadablePathError } from '../state/file-problem.ts';
import { StartError } from '../wire/start-error.ts';
import { startWebhook, type RunningWebhook, type WebhookSettings } from '../wire/webhook.ts';

interface ServeOptions extends WebhookSettings {
  readonly logLevel: LogLevel;
  /** In milliseconds. */
  readonly drainGrace: number;
}

export type StopSignal = 'SIGTERM' | 'SIGINT';

interface ServeIo {
  /** One line, once reviews are answered. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly onSignal: (listener: (signal: StopSignal) => void) => void;
  /** Ends the process without waiting for anything. */
  readonly endAtOnce: () => void;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

const stderrFd = 2;
/** A terminal signals every process of a group, and npm hands on to its child what it gets: both are one signal. */
const echoMs = 500;

/** Answers with the exit code: 0 stopped as asked, 1 not started, or stopped by a second signal. */
export async function runServe(options: ServeOptions, io: ServeIo): Promise<number> {
  const stopped = Promise.withResolvers<StopSignal>();
  const hurry = new AbortController();
  let firstAt: number | undefined;
  io.onSignal((signal) => {
    const now = io.monotonic();
    firstAt ??= now;
    if (now - firstAt < echoMs) stopped.resolve(signal);
    else hurry.abort();
  });
  const log = createLog(options.logLevel, stderrFd);
  const running = await start(options, log, io);
  if (running === undefined) return 1;
  io.stdout(`${readyLine(running)}\n`);
  const signal = await stopped.promise;
  log.info('stopping', { signal });
  await running.stop(signal === 'SIGTERM' ? options.drainGrace : 0, hurry.signal);
  log.info('stopped');
  // A write that hangs in the kernel would keep the process from ending, and it must end.
  if (!(await log.close())) io.endAtOnce();
  return hurry.signal.aborted ? 1 : 0;
}

async function start(
  options: ServeOptions,
  log: ReturnType<typeof createLog>,
  io: ServeIo,
): Promise<RunningWebhook | undefined> {
  try {
    const running = await startWebhook(options, log);
    for (const problem of running.cluster.problems) io.stderr(`${renderFileProblem(problem)}\n`);
    return running;
  } catch (error) {
    if (!(error instanceof StartError || error instanceof UnreadablePathError)) throw error;
    io.stderr(`${error.message}\n`);
    return undefined;
  }
}

function readyLine({ url, probesUrl, cluster: { loaded, refused, namespaces } }: RunningWebhook): string {
  return (
    `reeve answers on ${url}/validate and ${url}/mutate (probes on ${probesUrl}): ` +
    `${loaded} policies loaded, ${refused} refused, ${namespaces} namespaces`
  );
}
