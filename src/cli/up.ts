// The program of `reeve up`: Reeve on a sandbox of its own, with a feed of what it does.
import { relative } from 'node:path';
import { shippedFolder } from '../app/shipped-files.ts';
import { startUp, type RunningUp } from '../app/up.ts';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../observe/log.ts';
import { playDemo, jsonPrinter, textPrinter } from './demo/demo.ts';
import { observerFor, type Listener, colored, jsonFeed, plain, textFeed, type Paint } from './feed.ts';
import type { CommandIo } from './command.ts';
import { runSettings, type RunFlags } from './commands/run.ts';
import { upSettings, type UpFlags } from './commands/up.ts';
import { runUntilStopped, type Running } from './running.ts';
import { readSettings } from './flags/settings.ts';
import { readyJson, readyText, type UpFacts } from './up-text.ts';

const retryMs = 20;
/** Long enough to read the result of a scene. */
const readingMs = 1500;

/** Returns the exit code. */
export async function runUp(settings: UpFlags, io: CommandIo): Promise<number> {
  const options = { logLevel: settings.logLevel, drainGrace: 0 };
  return await runUntilStopped(options, io, async (log) => await upOnSandbox(settings, log, io));
}

async function upOnSandbox(settings: UpFlags, log: Log, io: CommandIo): Promise<Running> {
  const paint = io.isColored ? colored : plain;
  const listeners = [feedOf(settings, io, paint)];
  const tell: Listener = (event) => {
    for (const listen of listeners) listen(event);
  };
  const run = runOf(settings);
  const { apiPort, policies } = settings;
  const up = await startUp({ apiPort, policies, run, namespace: run.namespace }, log, observerFor(tell));
  const facts = factsOf(up, settings, io.program);
  const running = {
    readyLine: settings.json ? readyJson(facts, io.processMs()) : readyText(facts, paint),
    failed: up.failed,
    stop: (graceMs: number, signal: AbortSignal) => up.stop(graceMs, signal),
  };
  if (!settings.demo) return running;
  const options = {
    cluster: up,
    subscribe: (listener: Listener) => void listeners.push(listener),
    printer: settings.json ? jsonPrinter(io.stdout) : textPrinter(io.stdout, paint),
    retryDelay: async () => await systemClock.sleep(retryMs),
    betweenScenes: async () => await waitBetweenScenes(settings, io),
  };
  return { ...running, ended: () => playDemo(options) };
}

/** A program that reads the output gets no pause. */
async function waitBetweenScenes({ step, json }: UpFlags, io: CommandIo): Promise<void> {
  if (step) {
    if (!json) io.stdout('\nPress Enter for the next scene.\n');
    await io.nextLine();
  } else if (io.isTerminal) await systemClock.sleep(readingMs);
}

/** Returns the defaults of `reeve run`, changed for the sandbox. */
function runOf(flags: UpFlags): RunFlags {
  const { port, probesPort, logLevel, auditSecrets, resourceKind, variable, enforcedKey } = flags;
  const defaults = readSettings(runSettings, [], {});
  if (!defaults.ok) throw new Error('a setting of `reeve run` has no default');
  return {
    ...defaults.values,
    port,
    probesPort,
    logLevel,
    auditSecrets,
    resourceKind,
    variable,
    enforcedKey,
    host: '127.0.0.1',
  };
}

function feedOf({ quiet, json }: UpFlags, { stdout, clock }: CommandIo, paint: Paint): Listener {
  if (quiet) return () => undefined;
  return json ? jsonFeed(stdout, clock) : textFeed(stdout, clock, paint);
}

function factsOf(up: RunningUp, { policies }: UpFlags, program: string): UpFacts {
  const { url, kubeconfig, caFile, webhookUrl, probesUrl, loaded } = up;
  const isFirstSteps = policies === upSettings.policies.fallback?.value;
  return {
    url,
    kubeconfig,
    caFile,
    webhookUrl,
    metricsUrl: `${probesUrl}/metrics`,
    loaded,
    program,
    samples: isFirstSteps ? relative('', shippedFolder('samples')) || '.' : undefined,
  };
}
