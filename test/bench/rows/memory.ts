// Rows of the reconciler's memory: what namespaces cost, and what the Secrets of others cost.
import type { KubeObject } from '../../../src/base/metadata.ts';
import { Guard } from '../../cluster/guard.ts';
import { freePorts } from '../../cluster/ports.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { BenchPlane } from '../plane/bench-plane.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { createNamespace, namespaceOf } from '../plane/plane-objects.ts';
import { RoleProcess } from '../role-process.ts';
import type { BenchContext, MeasuredRows, Measurement } from '../row.ts';

/** As many namespaces as Secrets: one in each. */
const count = 10_000;
const secretBytes = 100_000;
const kibibyte = 1024;
const numbers = Array.from({ length: count }, (_, index) => index);
const warmUp = numbers.slice(0, 2000);

/** Counts Secrets of others, which no policy names. */
async function measureMemory(context: BenchContext): Promise<MeasuredRows> {
  await using plane = await BenchPlane.start(await context.controlPlane());
  await installReeve(plane.cluster);
  const guard = new Guard();
  const [inspected = 0] = await freePorts(1);
  const reconciler = await RoleProcess.start({
    role: 'reconciler',
    cluster: plane.cluster,
    guard,
    program: await context.program(),
    nodeFlags: [`--inspect=127.0.0.1:${inspected}`],
  });
  /** Resident memory in MiB. */
  const settled = async (): Promise<number> => {
    await plane.settled();
    await collectGarbage(inspected);
    return reconciler.residentMiB();
  };
  try {
    await reconciler.ready();
    // V8 grows its young generation once, with the first work. That is no cost of a namespace.
    await inParallel(warmUp, (index) => plane.calls.mustSend(createNamespace(otherOf(count + index))));
    const empty = await settled();
    await inParallel(numbers, (index) => plane.calls.mustSend(createNamespace(otherOf(index))));
    const filled = await settled();
    await inParallel(numbers, (index) =>
      plane.calls.mustSend({
        method: 'POST',
        path: `/api/v1/namespaces/${otherOf(index).metadata.name}/secrets`,
        body: large,
        // Otherwise each answer repeats the 100 KB.
        metadataOnly: true,
      }),
    );
    const withSecrets = await settled();
    context.print(
      `  memory: ${[empty, filled, withSecrets].map((each) => each.toFixed(1)).join(', ')} MiB before, with namespaces, with Secrets`,
    );
    const payload = (count * secretBytes) / kibibyte ** 2;
    return {
      'memory-payload': { ours: [((withSecrets - filled) / payload) * 100] },
      'memory-namespace': { ours: [((filled - empty) * kibibyte) / count] },
    };
  } finally {
    await reconciler.stop();
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

export const memory: Measurement = {
  rows: ['memory-payload', 'memory-namespace'],
  isQuick: false,
  measure: measureMemory,
};
