// The command `reeve up`: Reeve on a sandbox of its own, or on a cluster, with a feed of what it does.
import { relative } from 'node:path';
import type { ApiServerChoice } from '../kube/auth/find-api-server.ts';
import { startOnCluster } from '../app/up-on-cluster.ts';
import { shippedFolder } from '../app/shipped-files.ts';
import { startUp, type RunningUp } from '../app/up.ts';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../observe/log.ts';
import { playDemo, jsonPrinter, textPrinter } from './demo/demo.ts';
import { witnessFor, type Listener } from './feed.ts';
import { colored, jsonFeed, plain, textFeed, type Paint } from './feed-text.ts';
import { runSettings, type RunFlags } from './run-settings.ts';
import { runUntilStopped, type Running, type RunningIo } from './running.ts';
import { readSettings } from './settings.ts';
import type { UpFlags } from './command-settings.ts';
import { readyJson, readyText, type UpFacts } from './up-text.ts';

export interface UpIo extends RunningIo {
  readonly isColored: boolean;
  /** The time that the processors have spent on this process so far. */
  readonly processMs: () => number;
}

/** Of the tour, until it looks again whether something has come about. */
const pause = async (): Promise<void> => await systemClock.sleep(20);

/** Answers with the exit code. */
export async function runUp(
  settings: UpFlags,
  environment: ApiServerChoice['environment'],
  io: UpIo,
): Promise<number> {
  const options = { logLevel: settings.logLevel, drainGrace: 0 };
  return await runUntilStopped(options, io, async (log) =>
    settings.kubeconfig === undefined
      ? await upOnSandbox(settings, log, io)
      : await upOnCluster(settings, settings.kubeconfig, { environment, log, io }),
  );
}

async function upOnSandbox(settings: UpFlags, log: Log, io: UpIo): Promise<Running> {
  const paint = io.isColored ? colored : plain;
  const listeners = [feedOf(settings, io, paint)];
  const tell: Listener = (event) => {
    for (const listen of listeners) listen(event);
  };
  const run = runOf(settings, { host: '127.0.0.1' });
  const { apiPort, policies } = settings;
  const up = await startUp({ apiPort, policies, run, namespace: run.namespace }, log, witnessFor(tell));
  const running = {
    readyLine: settings.json ? readyJson(factsOf(up), io.processMs()) : readyText(factsOf(up), paint),
    failed: up.failed,
    stop: (graceMs: number, signal: AbortSignal) => up.stop(graceMs, signal),
  };
  if (!settings.demo) return running;
  const teller = settings.json ? jsonPrinter(io.stdout) : textPrinter(io.stdout, paint);
  const subscribe = (listener: Listener) => void listeners.push(listener);
  return { ...running, ended: () => playDemo({ up, subscribe, teller, pause }) };
}

async function upOnCluster(
  settings: UpFlags,
  kubeconfig: string,
  { environment, log, io }: { environment: ApiServerChoice['environment']; log: Log; io: UpIo },
): Promise<Running> {
  const feed = feedOf(settings, io, io.isColored ? colored : plain);
  const run = runOf(settings, { host: '127.0.0.1', role: 'reconciler' });
  const program = await startOnCluster(run, { kubeconfig, environment }, log, witnessFor(feed));
  const readyLine = settings.json
    ? JSON.stringify({ type: 'ready', description: program.description })
    : `Reeve runs here for the cluster of ${kubeconfig}: ${program.description}`;
  return { readyLine, failed: program.failed, stop: (graceMs, signal) => program.stop(graceMs, signal) };
}

/** The defaults of `reeve run`, with what differs here. */
function runOf({ port, probesPort, logLevel }: UpFlags, parts: Partial<RunFlags>): RunFlags {
  const defaults = readSettings(runSettings, [], {});
  if (!defaults.ok) throw new Error('a setting of `reeve run` has no default');
  return { ...defaults.values, port, probesPort, logLevel, ...parts };
}

function feedOf({ quiet, json }: UpFlags, { stdout, clock }: UpIo, paint: Paint): Listener {
  if (quiet) return () => undefined;
  return json ? jsonFeed(stdout, clock) : textFeed(stdout, clock, paint);
}

function factsOf({ url, kubeconfig, caFile, webhookUrl, loaded }: RunningUp): UpFacts {
  return {
    url,
    kubeconfig,
    caFile,
    webhookUrl,
    loaded,
    samples: relative('', shippedFolder('samples')) || '.',
  };
}
