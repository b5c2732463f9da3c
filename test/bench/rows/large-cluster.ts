// Rows of the reconciler by the number of namespaces: how soon a new namespace has its RoleBinding, and what rest costs.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPlane } from '../plane/bench-plane.ts';
import {
  applyOf,
  contentName,
  createNamespace,
  roleBindingOf,
  sourceNamespace,
} from '../plane/plane-objects.ts';
import type { BenchContext, MeasuredRows, Measurement } from '../row.ts';
import { median, quantile } from '../statistics.ts';

const samplesPerRound = 60;
/** The bursts before leave 6,000 namespaces. */
const [few, many, most] = [10, 6000, 10_000] as const;
/** Between two creates, so that each is measured alone. */
const pauseMs = 10;
const restMs = 60_000;

interface Latencies {
  /** The medians of the rounds. */
  readonly ours: readonly number[];
  readonly raw: readonly number[];
  /** The 99th percentile of all rounds. */
  readonly p99: number;
}

async function measureFew(context: BenchContext): Promise<MeasuredRows> {
  const { plane, bare, filled } = await context.planes();
  await filled(few);
  await warmUp(plane);
  const { ours, raw, p99 } = await latencies(context, plane, bare);
  context.print(`  created to RoleBinding with few namespaces: p99 ${p99.toFixed(1)} ms`);
  return { 'binding-p50': { ours, baseline: raw }, 'binding-p99-5000': { baseline: [p99] } };
}

async function measureMany(context: BenchContext): Promise<MeasuredRows> {
  const { plane, bare, filled } = await context.planes();
  await filled(many);
  const { ours, raw, p99 } = await latencies(context, plane, bare);
  return { 'binding-p50-5000': { ours, baseline: raw }, 'binding-p99-5000': { ours: [p99] } };
}

/** The time from the answer to a create until the RoleBinding is seen, and that of one raw write, in turn. */
async function latencies({ rounds }: BenchContext, plane: BenchPlane, bare: BenchPlane): Promise<Latencies> {
  const [ours, raw, all]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const [own, writes]: [number[], number[]] = [[], []];
    for (let index = 0; index < samplesPerRound; index += 1) {
      own.push(await untilBound(plane));
      const write = applyOf(roleBindingOf(sourceNamespace, `bench-${plane.namespaces}`));
      const began = performance.now();
      await bare.calls.mustSend(write);
      writes.push(performance.now() - began);
    }
    ours.push(median(own));
    raw.push(median(writes));
    all.push(...own);
  }
  return { ours, raw, p99: quantile(all, 0.99) };
}

/** Node has compiled the code that matters after that many namespaces. Without this, the first figures would be the worst. */
async function warmUp(plane: BenchPlane): Promise<void> {
  for (let index = 0; index < 200; index += 1) await untilBound(plane);
}

async function untilBound(plane: BenchPlane): Promise<number> {
  const bound = plane.seen.roleBindings.expect(contentName, 1);
  const copied = plane.seen.secrets.expect(contentName, 1);
  let seenAt = 0;
  const seen = bound.then(() => (seenAt = performance.now()));
  await plane.calls.mustSend(createNamespace(plane.nextNamespace()));
  const created = performance.now();
  await Promise.all([seen, copied]);
  await sleep(pauseMs);
  return seenAt - created;
}

async function measureRest(context: BenchContext): Promise<MeasuredRows> {
  const { plane, reeve, filled } = await context.planes();
  await filled(most);
  const writes = await plane.writeCount();
  const [began, before] = [performance.now(), reeve.processorMs()];
  await sleep(restMs);
  const passed = performance.now() - began;
  const shares = reeve.processorMs().map((ms, index) => ((ms - (before[index] ?? 0)) / passed) * 100);
  context.print(
    `  at rest, webhook and reconciler: ${shares.map((each) => each.toFixed(2)).join(' and ')} %`,
  );
  return {
    'rest-processor': { ours: [shares.reduce((sum, each) => sum + each, 0)] },
    'rest-writes': { ours: [(await plane.writeCount()) - writes] },
  };
}

export const fewBindings: Measurement = {
  rows: ['binding-p50', 'binding-p99-5000'],
  isQuick: false,
  measure: measureFew,
};

export const manyBindings: Measurement = {
  rows: ['binding-p50-5000', 'binding-p99-5000'],
  isQuick: false,
  measure: measureMany,
};

export const rest: Measurement = {
  rows: ['rest-processor', 'rest-writes'],
  isQuick: false,
  measure: measureRest,
};
