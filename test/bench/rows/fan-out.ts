// Rows of the reconciler on a real control plane: one Secret to 1,000 namespaces, its change, and 1,000 namespaces in a burst.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPlane } from '../plane/bench-plane.ts';
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
import { inTurn, type BenchContext, type MeasuredRows, type Measurement } from '../row.ts';

const burstCount = 1000;
const fanOutNames = Array.from(
  { length: fanOutCount },
  (_, index) => namespaceWithContents(index).metadata.name ?? '',
);
/** A write that nothing needs comes soon after the others. */
const lateMs = 300;

async function measureFanOut(context: BenchContext): Promise<MeasuredRows> {
  const { bare, plane, filled } = await context.planes();
  await filled(fanOutCount);
  await inParallel(fanOutNames, (name) => bare.calls.mustSend(createNamespace(namespaceOf(name, {}))));
  return await fanOut(context, plane, bare);
}

async function fanOut({ rounds }: BenchContext, plane: BenchPlane, bare: BenchPlane): Promise<MeasuredRows> {
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
  const changed = (round: number): Promise<number> => counted(1, () => change(`fan-${round}`));
  const second = await inTurn(rounds, changed, rawLoop('y'), 0);
  return { 'fan-out': first, 'fan-out-change': second, 'fan-out-writes': { ours: writes } };
}

async function measureBursts(context: BenchContext): Promise<MeasuredRows> {
  const { bare, plane, filled } = await context.planes();
  // The first burst warms up.
  await filled(fanOutCount);
  const lags: number[] = [];
  const burst = async (): Promise<number> => {
    const { totalMs, lagMs } = await plane.burst(burstCount);
    lags.push(lagMs / 1000);
    await plane.settled();
    return totalMs / 1000;
  };
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
  const total = await inTurn(context.rounds, burst, rawLoop, 0);
  await measureReference(context, bare);
  return { 'burst-lag': { ours: lags }, 'burst-total': total };
}

export const fanOuts: Measurement = {
  rows: ['fan-out', 'fan-out-change', 'fan-out-writes'],
  isQuick: false,
  measure: measureFanOut,
};

export const bursts: Measurement = {
  rows: ['burst-lag', 'burst-total'],
  isQuick: false,
  measure: measureBursts,
};
