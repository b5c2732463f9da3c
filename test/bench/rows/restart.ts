// Rows of a restarted reconciler: what it asks of the API server, and how long it takes until every namespace is known.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPlane } from '../plane/bench-plane.ts';
import type { BenchContext, MeasuredRows, Measurement } from '../row.ts';
import type { RoleProcess } from '../role-process.ts';

const [few, many] = [1000, 10_000] as const;
const pollMs = 20;

interface Restart {
  readonly seconds: number;
  readonly lists: number;
  readonly writes: number;
}

async function restarts(context: BenchContext, count: number): Promise<readonly Restart[]> {
  const { plane, reeve, filled } = await context.planes();
  await filled(count);
  const found: Restart[] = [];
  for (let round = 0; round < context.rounds; round += 1) {
    const began = performance.now();
    found.push(await restarted(plane, await reeve.restartReconciler(), began));
  }
  return found;
}

async function restarted(plane: BenchPlane, process: RoleProcess, began: number): Promise<Restart> {
  // The bench itself writes before the start: it gives the process its account and a token.
  const [writes, lists] = [await plane.writeCount(), await listCount(plane)];
  await process.ready();
  // The first numbers of a leader come when it has reconciled every namespace once.
  while ((await process.sum('reeve_namespaces', 'ready="true"')) < plane.namespaces) await sleep(pollMs);
  const seconds = (performance.now() - began) / 1000;
  await plane.settled();
  return { seconds, writes: (await plane.writeCount()) - writes, lists: (await listCount(plane)) - lists };
}

async function measureFew(context: BenchContext): Promise<MeasuredRows> {
  return { 'restart-time': { baseline: (await restarts(context, few)).map(({ seconds }) => seconds) } };
}

async function measureMany(context: BenchContext): Promise<MeasuredRows> {
  const found = await restarts(context, many);
  return {
    'restart-writes': { ours: found.map(({ writes }) => writes) },
    'restart-lists': { ours: found.map(({ lists }) => lists) },
    'restart-time': { ours: found.map(({ seconds }) => seconds) },
  };
}

/** A page counts as a list. A state that the API server streams at the beginning of a watch does not. */
async function listCount(plane: BenchPlane): Promise<number> {
  const metrics = String((await plane.cluster.admin.send('GET', '/metrics')).body);
  return metrics
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{') && line.includes('verb="LIST"'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

export const fewRestarts: Measurement = { rows: ['restart-time'], isQuick: false, measure: measureFew };

export const manyRestarts: Measurement = {
  rows: ['restart-writes', 'restart-lists', 'restart-time'],
  isQuick: false,
  measure: measureMany,
};
