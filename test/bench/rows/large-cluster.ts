// Rows of the reconciler by the number of namespaces: how soon a new namespace has its RoleBinding, and what rest costs.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPlane } from '../plane/bench-plane.ts';
import { startPlanes, type BenchReeve } from '../plane/bench-planes.ts';
import { applyOf, contentName, createNamespace, namespaceOf, roleBindingOf } from '../plane/plane-objects.ts';
import type { BenchContext, Measurement, Samples } from '../row.ts';
import { median, quantile } from '../statistics.ts';

const samplesPerRound = 60;
const [few, many, most] = [10, 5000, 10_000] as const;
/** Between two creates, so that each is measured alone. */
const pauseMs = 10;
const restMs = 60_000;
const rawNamespace = 'raw';

interface Latencies {
  /** The medians of the rounds. */
  readonly ours: readonly number[];
  readonly raw: readonly number[];
  /** The 99th percentile of all rounds. */
  readonly p99: number;
}

async function measureLargeCluster(context: BenchContext): Promise<Readonly<Record<string, Samples>>> {
  await using planes = await startPlanes(context);
  const { bare, plane, reeve } = planes;
  await bare.calls.mustSend(createNamespace(namespaceOf(rawNamespace, {})));
  await reeve.startReconciler();
  await plane.provideContents();
  await plane.fill(few);
  await plane.settled();
  await warmUp(plane);
  const small = await latencies(context, plane, bare, 'small');
  await plane.fill(many);
  await plane.settled();
  const large = await latencies(context, plane, bare, 'large');
  context.print(`  created to RoleBinding: p99 ${small.p99.toFixed(1)} and ${large.p99.toFixed(1)} ms`);
  await plane.fill(most);
  await plane.settled();
  return {
    'binding-p50': { ours: small.ours, baseline: small.raw },
    'binding-p50-5000': { ours: large.ours, baseline: large.raw },
    'binding-p99-5000': { ours: [large.p99], baseline: [small.p99] },
    ...(await rest(context, plane, reeve)),
  };
}

/** The time from the answer to a create until the RoleBinding is seen, and that of one raw write, in turn. */
async function latencies(
  { rounds }: BenchContext,
  plane: BenchPlane,
  bare: BenchPlane,
  name: string,
): Promise<Latencies> {
  const [ours, raw, all]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const [own, writes]: [number[], number[]] = [[], []];
    for (let index = 0; index < samplesPerRound; index += 1) {
      own.push(await untilBound(plane));
      const write = applyOf(roleBindingOf(rawNamespace, `${name}-${round}-${index}`));
      const began = performance.now();
      await bare.calls.mustSend(write);
      writes.push(performance.now() - began);
      await sleep(pauseMs);
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

async function rest(
  context: BenchContext,
  plane: BenchPlane,
  reeve: BenchReeve,
): Promise<Readonly<Record<string, Samples>>> {
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

export const largeClusterMeasurements: readonly Measurement[] = [
  {
    rows: ['binding-p50', 'binding-p50-5000', 'binding-p99-5000', 'rest-processor', 'rest-writes'],
    isQuick: false,
    measure: measureLargeCluster,
  },
];
