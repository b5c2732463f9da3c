// Rows of the reconciler's memory: what namespaces cost, and what the Secrets of others cost.
import type { KubeObject } from '../../../src/base/kube-object.ts';
import { Guard } from '../../cluster/guard.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { CollectedProcess } from '../collected-process.ts';
import { BenchPlane } from '../plane/bench-plane.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { createNamespace, namespaceOf } from '../plane/plane-objects.ts';
import type { BenchContext, Measurement, Samples } from '../row.ts';

/** As many namespaces as Secrets: one in each. */
const count = 10_000;
const secretBytes = 100_000;
const kibibyte = 1024;
const numbers = Array.from({ length: count }, (_, index) => index);
const warmUp = numbers.slice(0, 2000);

/** Counts Secrets of others, which no policy names. */
async function measureMemory(context: BenchContext): Promise<Readonly<Record<string, Samples>>> {
  await using plane = await BenchPlane.start(await context.controlPlane());
  await installReeve(plane.cluster);
  const guard = new Guard();
  const reconciler = await CollectedProcess.start(plane.cluster, guard, await context.program());
  try {
    await reconciler.process.ready();
    // V8 grows its young generation once, with the first work. That is no cost of a namespace.
    await inParallel(warmUp, (index) => plane.calls.mustSend(createNamespace(otherOf(count + index))));
    await plane.settled();
    const empty = await reconciler.memory();
    await inParallel(numbers, (index) => plane.calls.mustSend(createNamespace(otherOf(index))));
    await plane.settled();
    const filled = await reconciler.memory();
    await inParallel(numbers, (index) =>
      plane.create(`/api/v1/namespaces/${otherOf(index).metadata.name}/secrets`, large),
    );
    await plane.settled();
    const withSecrets = await reconciler.memory();
    context.print(`  memory: ${JSON.stringify({ empty, filled, withSecrets })}`);
    const payload = (count * secretBytes) / kibibyte ** 2;
    return {
      'memory-payload': { ours: [((withSecrets.resident - filled.resident) / payload) * 100] },
      'memory-namespace': { ours: [((filled.resident - empty.resident) * kibibyte) / count] },
    };
  } finally {
    await reconciler.process.stop();
    await guard.end();
  }
}

const large = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'large', labels: { app: 'other' } },
  data: { value: Buffer.alloc(secretBytes, 'x').toString('base64') },
};

function otherOf(index: number): KubeObject {
  return namespaceOf(`other-${index}`, { team: `team-${index % 50}` });
}

export const memoryMeasurements: readonly Measurement[] = [
  { rows: ['memory-payload', 'memory-namespace'], isQuick: false, measure: measureMemory },
];
