// Runs the soak: people and faults for some minutes, then quiet, then the verdict.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { operator } from './api-calls.ts';
import { Arena } from './arena.ts';
import { CallLedger } from './call-ledger.ts';
import { churn } from './churn.ts';
import { trendsOf, type Trend } from './flatness.ts';
import { logLeaks, openOutputLeaks } from './leak-search.ts';
import { needlesOf, keysAndTokens } from './leaks.ts';
import { Random } from './random.ts';
import type { Report } from './report.ts';
import { renewalsOf } from './renewals.ts';
import { settle } from './settle.ts';
import { makeTrouble } from './trouble.ts';
import type { VitalSigns } from './vital-signs.ts';
import { watchOver } from './watch.ts';
import { rulesOfAll } from './world.ts';

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** The maximum number of actions a second. */
  readonly rate: number;
  readonly say: (text: string) => void;
  /** Ends the soak early. The verdict covers the time until then. */
  readonly signal: AbortSignal;
}

export async function soak(options: SoakOptions): Promise<Report> {
  options.say(`seed ${options.seed}`);
  const arena = await Arena.open();
  try {
    return await soakIn(arena, options);
  } finally {
    await arena.close();
  }
}

async function soakIn(arena: Arena, { minutes, seed, rate, say, signal }: SoakOptions): Promise<Report> {
  const { calls, logs } = arena;
  const canary = `canary${randomBytes(8).toString('hex')}`;
  const needles = [...needlesOf('what is secret in a source', canary), ...keysAndTokens];
  const ledger = new CallLedger(() => performance.now());
  await calls.mustSend({ method: 'PATCH', ...rulesOfAll, as: operator });
  const over = new AbortController();
  const began = performance.now();
  const common = { arena, calls, ledger, canary, rate, say, signal: over.signal };
  const working = churn({ ...common, random: new Random(seed) });
  const troubling = makeTrouble({ ...common, random: new Random(seed + 1) });
  const watching = watchOver(arena, needles, over.signal);
  await sleep(minutes * 60_000, undefined, { signal }).catch(() => undefined);
  over.abort();
  const [, trouble, { samplesBeforeLead, ...watched }] = await Promise.all([working, troubling, watching]);
  const seconds = (performance.now() - began) / 1000;
  say('quiet');
  const settled = await settle(calls, canary, new Random(seed + 2));
  const renewals = await renewalsOf(arena);
  const leaks = [...(await openOutputLeaks(calls, needles)), ...(await logLeaks(logs, needles))];
  return {
    seed,
    seconds,
    calls: ledger.totals,
    trouble,
    ...settled,
    ...watched,
    renewals,
    leaks: [...watched.leaks, ...leaks],
    trends: trends(arena, seconds, samplesBeforeLead),
    logs,
  };
}

/**
 * Returns trends of processes that lived long enough in one role. A leader holds more than a standby, so only the samples
 * of one role are compared. Faults ended the other processes on purpose.
 */
function trends(
  { replicas }: Arena,
  seconds: number,
  samplesBeforeLead: ReadonlyMap<number, number>,
): readonly Trend[] {
  return replicas.flatMap((replica) => {
    const pid = replica.lives.at(-1);
    if (pid === undefined) return [];
    const samples = longestRole(replica.samplesOf(pid), samplesBeforeLead.get(pid) ?? 0);
    return lived(samples) < seconds / leastShareInRole ? [] : trendsOf(`${replica.name} (${pid})`, samples);
  });
}

/** A process that runs all the time has one role for at least nearly half of it, however late it becomes the leader. */
const leastShareInRole = 2.5;

function longestRole(samples: readonly VitalSigns[], beforeLead: number): readonly VitalSigns[] {
  const [standby, leader] = [samples.slice(0, beforeLead), samples.slice(beforeLead)];
  return lived(standby) > lived(leader) ? standby : leader;
}

function lived(samples: readonly VitalSigns[]): number {
  return (samples.at(-1)?.age ?? 0) - (samples[0]?.age ?? 0);
}
