// Rows of a restarted reconciler: what it asks of the API server, and how long it takes until every namespace is known.
import { setTimeout as sleep } from 'node:timers/promises';
import { Guard } from '../../cluster/guard.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { BenchPlane } from '../plane/bench-plane.ts';
import type { BenchContext, Measurement, Samples } from '../row.ts';
import { SizedProcess } from '../sized-process.ts';

const [few, many] = [1000, 10_000] as const;
const restarts = 3;
const pollMs = 20;

interface Restart {
  readonly ms: number;
  readonly lists: number;
  readonly writes: number;
}

async function measureRestart(context: BenchContext): Promise<Readonly<Record<string, Samples>>> {
  await using plane = await BenchPlane.start(await context.controlPlane());
  await installReeve(plane.cluster);
  const guard = new Guard();
  const program = await context.program();
  const start = (): Promise<SizedProcess> =>
    SizedProcess.start('reconciler', 'reconciler', plane.cluster, guard, program);
  let running = await start();
  try {
    await plane.provideContents();
    const measured: Restart[][] = [];
    for (const count of [few, many]) {
      await plane.fill(count);
      await allKnown(running, count);
      await plane.settled();
      const round: Restart[] = [];
      for (let index = 0; index < restarts; index += 1) {
        await running.stop();
        const began = performance.now();
        running = await start();
        round.push(await restarted(plane, running, { count, began }));
      }
      measured.push(round);
    }
    const [small = [], large = []] = measured;
    return {
      'restart-writes': { ours: large.map(({ writes }) => writes) },
      'restart-lists': { ours: large.map(({ lists }) => lists) },
      'restart-time': { ours: large.map(({ ms }) => ms / 1000), baseline: small.map(({ ms }) => ms / 1000) },
    };
  } finally {
    await running.stop();
    await guard.end();
  }
}

async function restarted(
  plane: BenchPlane,
  process: SizedProcess,
  { count, began }: { readonly count: number; readonly began: number },
): Promise<Restart> {
  // The bench itself writes before the start: it gives the process its account and a token.
  const [writes, lists] = [await plane.writeCount(), await listCount(plane)];
  await allKnown(process, count);
  const ms = performance.now() - began;
  await plane.settled();
  return { ms, writes: (await plane.writeCount()) - writes, lists: (await listCount(plane)) - lists };
}

/** The first numbers of a leader come when it has reconciled every namespace once. */
async function allKnown(process: SizedProcess, count: number): Promise<void> {
  await process.ready();
  while ((await process.sum('reeve_namespaces', 'ready="true"')) < count) await sleep(pollMs);
}

/** A page counts as a list. A state that the API server streams at the beginning of a watch does not. */
async function listCount(plane: BenchPlane): Promise<number> {
  const metrics = String((await plane.cluster.admin.send('GET', '/metrics')).body);
  return metrics
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{') && line.includes('verb="LIST"'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

export const restartMeasurements: readonly Measurement[] = [
  { rows: ['restart-writes', 'restart-lists', 'restart-time'], isQuick: false, measure: measureRestart },
];
