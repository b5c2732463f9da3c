// Rows of the reconciler on a real control plane: one Secret to 1,000 namespaces, its change, and 1,000 namespaces in a burst.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPlane, Burst } from '../plane/bench-plane.ts';
import { startPlanes } from '../plane/bench-planes.ts';
import { inParallel } from '../../support/in-parallel.ts';
import {
  applyOf,
  contentName,
  createNamespace,
  fanOutCount,
  fanOutShare,
  namespaceOf,
  namespaceWithContents,
  roleBindingOf,
  secretOf,
  sourceNamespace,
} from '../plane/plane-objects.ts';
import { measureReference } from '../plane/reference.ts';
import { inTurn, type BenchContext, type Measurement, type Samples } from '../row.ts';

const burstCount = 1000;
const fanOutNames = Array.from(
  { length: fanOutCount },
  (_, index) => namespaceWithContents(index).metadata.name ?? '',
);
/** A write that nothing needs comes soon after the others. */
const lateMs = 300;

async function measureFanOut(context: BenchContext): Promise<Readonly<Record<string, Samples>>> {
  await using planes = await startPlanes(context);
  const { bare, plane, reeve } = planes;
  await reeve.startReconciler();
  await plane.provideContents();
  await plane.fill(fanOutCount);
  await inParallel(fanOutNames, (name) => bare.calls.mustSend(createNamespace(namespaceOf(name, {}))));
  await plane.settled();
  const samples = { ...(await fanOut(context, plane, bare)), ...(await burst(context, plane, bare)) };
  await measureReference(context, bare);
  return samples;
}

async function fanOut(
  { rounds }: BenchContext,
  plane: BenchPlane,
  bare: BenchPlane,
): Promise<Readonly<Record<string, Samples>>> {
  const writes: number[] = [];
  const counted = async (others: number, work: () => Promise<void>): Promise<number> => {
    const before = (await plane.writes()).get('secrets') ?? 0;
    const began = performance.now();
    await work();
    const seconds = (performance.now() - began) / 1000;
    await sleep(lateMs);
    writes.push(((await plane.writes()).get('secrets') ?? 0) - before - others);
    return seconds;
  };
  const source = async (name: string, mark: string): Promise<void> => {
    await plane.calls.mustSend(applyOf(secretOf(sourceNamespace, name, mark)));
  };
  const share = async (name: string): Promise<void> => {
    const seen = plane.seen.secrets.expect(name, fanOutCount);
    await plane.create('/apis/reeve.dev/v1alpha1/secretshares', fanOutShare(name));
    await seen;
  };
  const change = async (name: string): Promise<void> => {
    const seen = plane.seen.secrets.expect(name, fanOutCount);
    await source(name, 'y');
    await seen;
  };
  const rawLoop = (mark: string) => async (round: number) => {
    const began = performance.now();
    await inParallel(fanOutNames, (namespace) =>
      bare.calls.mustSend(applyOf(secretOf(namespace, `fan-${round}`, mark))),
    );
    return (performance.now() - began) / 1000;
  };
  const created = async (round: number): Promise<number> => {
    await source(`fan-${round}`, 'x');
    return await counted(0, () => share(`fan-${round}`));
  };
  const first = await inTurn(rounds, created, rawLoop('x'));
  const second = await inTurn(rounds, (round) => counted(1, () => change(`fan-${round}`)), rawLoop('y'));
  return { 'fan-out': first, 'fan-out-change': second, 'fan-out-writes': { ours: writes } };
}

async function burst(
  { rounds }: BenchContext,
  plane: BenchPlane,
  bare: BenchPlane,
): Promise<Readonly<Record<string, Samples>>> {
  const [ours, baseline]: [Burst[], number[]] = [[], []];
  const rawLoop = async (round: number): Promise<number> => {
    const names = Array.from({ length: burstCount }, (_, index) => `raw-${round}-${index}`);
    const began = performance.now();
    await inParallel(names, async (name) => {
      await bare.calls.mustSend(createNamespace(namespaceOf(name, {})));
      await bare.calls.mustSend(applyOf(roleBindingOf(name, contentName)));
      await bare.calls.mustSend(applyOf(secretOf(name, contentName)));
    });
    return (performance.now() - began) / 1000;
  };
  // Nothing to warm up: the namespaces of the fan-out came in such a burst.
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await plane.burst(burstCount));
    await plane.settled();
    baseline.push(await rawLoop(round));
  }
  return {
    'burst-lag': { ours: ours.map(({ lagMs }) => lagMs / 1000) },
    'burst-total': { ours: ours.map(({ totalMs }) => totalMs / 1000), baseline },
  };
}

export const fanOutMeasurements: readonly Measurement[] = [
  {
    rows: ['fan-out', 'fan-out-change', 'fan-out-writes', 'burst-lag', 'burst-total'],
    isQuick: true,
    measure: measureFanOut,
  },
];
