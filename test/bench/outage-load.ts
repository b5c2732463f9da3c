// Creates five namespaces a second during an event, and says how long calls failed and how long contents were missing.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { ApiCalls } from '../soak/api-calls.ts';
import { until } from '../support/until.ts';
import { ann } from '../node/support/steady-writes.ts';
import { quantile } from './statistics.ts';

const perSecond = 5;

interface Sent {
  readonly at: number;
  readonly ms: number;
  readonly status: number;
  readonly message: string;
}

interface Stored {
  readonly metadata: { readonly name: string; readonly creationTimestamp: string };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

export interface OutageReport {
  readonly calls: number;
  readonly failed: number;
  /** The seconds from the event to the last call that failed, and the messages with their number. */
  readonly lastFailure: number;
  readonly messages: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly medianMs: number;
  /** The most seconds from the creation of a namespace to its condition Ready; the clocks count whole seconds. */
  readonly longestUnready: number;
}

/** Writes from two seconds before the event to five seconds after it. */
export async function duringEvent(cluster: ClusterAccess, event: () => Promise<void>): Promise<OutageReport> {
  const calls = await ApiCalls.of(cluster);
  const prefix = `app-out-${Date.now().toString(36)}-`;
  const sent: Promise<Sent>[] = [];
  const write = async (): Promise<Sent> => {
    const began = performance.now();
    const body = { metadata: { name: `${prefix}${sent.length}`, labels: { owner: 'ann' } } };
    const answer = await calls.send({ method: 'POST', path: '/api/v1/namespaces', as: ann, body });
    return { at: began, ms: performance.now() - began, status: answer.status, message: answer.message };
  };
  const timer = setInterval(() => void sent.push(write()), 1000 / perSecond);
  try {
    await sleep(2000);
    const began = performance.now();
    await event();
    await sleep(5000);
    clearInterval(timer);
    return await reportOf(calls, prefix, await Promise.all(sent), began);
  } finally {
    clearInterval(timer);
    calls.close();
  }
}

async function reportOf(
  calls: ApiCalls,
  prefix: string,
  sent: readonly Sent[],
  began: number,
): Promise<OutageReport> {
  const failed = sent.filter(({ status }) => status !== 201);
  const messages: Record<string, number> = {};
  for (const { status, message } of failed) {
    const text = `${status} ${message.replaceAll(prefix, '').slice(0, 200)}`;
    messages[text] = (messages[text] ?? 0) + 1;
  }
  const times = sent.map(({ ms }) => ms);
  return {
    calls: sent.length,
    failed: failed.length,
    lastFailure: Math.max(0, ...failed.map(({ at, ms }) => (at + ms - began) / 1000)),
    messages,
    slowestMs: Math.max(...times),
    medianMs: quantile(times, 0.5),
    longestUnready: Math.max(...(await secondsUntilReady(calls, prefix))),
  };
}

async function secondsUntilReady(calls: ApiCalls, prefix: string): Promise<readonly number[]> {
  let found: readonly Stored[] = [];
  const readyAt = ({ status }: Stored): string | undefined =>
    status?.conditions?.find(({ type, status: is }) => type === 'reeve.dev/Ready' && is === 'True')
      ?.lastTransitionTime;
  await until(
    async () => {
      found = (await calls.list<Stored>('/api/v1/namespaces')).filter(({ metadata }) =>
        metadata.name.startsWith(prefix),
      );
      return found.every((each) => readyAt(each) !== undefined);
    },
    () => 'every namespace is ready',
  );
  return found.map(
    (each) => (Date.parse(readyAt(each) ?? '') - Date.parse(each.metadata.creationTimestamp)) / 1000,
  );
}
