// Property of the reconciler: after any events in any order, all objects are in sync in the end and stay in sync.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/base/metadata.ts';
import { arrive, begun, calmOps, lag, wildOps } from '../support/reconcile-actions.ts';
import type { Write } from '../support/memory-cluster.ts';
import type { Harness } from '../support/reconcile-harness.ts';
import { deviations } from '../support/reconcile-oracle.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Returns the state of the cluster once it no longer changes. */
async function ended(
  h: Harness,
): Promise<{ readonly deviations: readonly string[]; readonly writes: readonly Write[] }> {
  await h.settle(130_000);
  const found = deviations(h.memory, h.clock.now());
  h.takeWrites();
  h.memory.fault = () => undefined;
  // A new process has nothing to write.
  await h.stop();
  h.start();
  await h.settle();
  const writes = h.takeWrites();
  await h.end();
  return { deviations: found, writes };
}

const well = { deviations: [], writes: [] };

describe('the reconciler brings objects in sync', () => {
  test('objects are in sync after any sequence of events, reported in any order', async () => {
    const step = fc.record({ op: fc.oneof(...wildOps), how: lag, seed: fc.nat(1000), latency: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const h = await begun();
        for (const { op, how, seed, latency } of steps) {
          h.memory.latency = () => latency;
          await op.run(h);
          await arrive(h, how, seed);
        }
        expect(await ended(h)).toEqual(well);
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test('the end is the same for a reconciler that follows each event and one that sees only the last state', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(...calmOps), { minLength: 1, maxLength: 15 }), async (ops) => {
        const [prompt, late] = [await begun(), await begun()];
        for (const { run } of ops) {
          await run(prompt);
          await prompt.settle();
          await run(late);
        }
        expect(await ended(prompt)).toEqual(well);
        expect(await ended(late)).toEqual(well);
        expect(stateOf(late)).toEqual(stateOf(prompt));
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});

function stateOf(h: Harness): unknown {
  const objects = ['Secret', 'RoleBinding', 'ResourceQuota', 'NamespacePolicy', 'SecretShare'].flatMap(
    (kind) => h.memory.list(kind),
  );
  return Object.fromEntries(objects.map((object) => [idOf(object), timeless(object)]));
}

function idOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind ?? ''} ${namespace ?? ''} ${name ?? ''}`;
}

function timeless({ metadata, status: _status, ...rest }: KubeObject): unknown {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    generation: _generation,
    finalizers: _f,
    managedFields: _owners,
    ...kept
  } = metadata;
  return { ...rest, metadata: kept };
}
