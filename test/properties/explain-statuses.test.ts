// Property of `reeve explain`: once the reconciler has settled, it says of each provider what the reconciler has written into the status.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownMember } from '../../src/base/json.ts';
import { type KubeObject, nameOf } from '../../src/base/metadata.ts';
import { explainNamespace } from '../../src/inspect/explain/explain-namespace.ts';
import { explainProvider } from '../../src/inspect/explain/explain-provider.ts';
import type { LookedAt } from '../../src/inspect/explain/looked-at.ts';
import { accessOf } from '../../src/inspect/input/access.ts';
import type { ExplainedObject } from '../../src/inspect/output-schemas/explanation.ts';
import { planningState } from '../../src/inspect/input/loaded-state.ts';
import type { ProviderKind } from '../../src/api/kinds.ts';
import { providerId, type ProviderId } from '../../src/policy/terms/provider-id.ts';
import { memoryState } from '../support/plan-parity.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { begun, wildOps } from '../support/reconcile-actions.ts';
import type { Harness } from '../support/reconcile-harness.ts';

/** Errors of the API server delay what is written, and an explanation knows nothing of them. */
const faults = /^(?:the API server answers|restart|relist)/;
const ops = fc.array(
  fc.oneof(...wildOps).filter(({ name }) => !faults.test(name)),
  { minLength: 1, maxLength: 14 },
);

function lookedAt(h: Harness): LookedAt {
  const state = memoryState(h.memory, ['v1/ResourceQuota']);
  const now = h.clock.now();
  const mayDo: LookedAt['mayDo'] = () => Promise.resolve('unknown');
  return { ...planningState(state, now), access: accessOf(state), mayDo, now };
}

function counted(objects: readonly ExplainedObject[], outcome: string): number {
  return objects.filter((each) => each.outcome === outcome).length;
}

function idOf({ kind, metadata }: KubeObject): ProviderId {
  return providerId(kind as ProviderKind, metadata.name ?? '');
}

async function explained(provider: KubeObject, at: LookedAt) {
  const id = idOf(provider);
  const { namespaces, providers = [] } = await explainProvider(id, at);
  const rows = await Promise.all(
    [...at.cluster.snapshot().namespaces()].map(async (each) => {
      const { providers: seen = [] } = await explainNamespace(nameOf(each), at);
      return seen.find((one) => one.id === id)?.objects ?? [];
    }),
  );
  const objects = rows.flat();
  // Both explanations tell of the same objects.
  expect(objects.filter(({ outcome }) => outcome !== 'in sync')).toEqual(providers[0]?.objects ?? []);
  return {
    id,
    matched: namespaces?.length,
    synced: counted(objects, 'in sync'),
    conflicts: counted(objects, 'conflict'),
  };
}

test('an explanation counts what the status of each policy and share counts, once the reconciler has settled', async () => {
  const seen = { synced: 0, conflicts: 0 };
  await fc.assert(
    fc.asyncProperty(ops, async (history) => {
      const h = await begun();
      for (const { run } of history) await run(h);
      await h.settle();
      await h.stop();
      const at = lookedAt(h);
      for (const provider of [...h.memory.list('NamespacePolicy'), ...h.memory.list('SecretShare')]) {
        const known = at.cluster.provider(idOf(provider));
        // A running reconciler can have an earlier version in force.
        if (known?.definition === undefined || known.state.isDeleting) continue;
        const { id, ...counts } = await explained(provider, at);
        const of = (field: string): unknown => ownMember(provider['status'], field);
        const status = {
          matched: of('matched') ?? counts.matched,
          synced: of('synced'),
          conflicts: of('conflicts'),
        };
        expect({ id, ...counts }).toEqual({ id, ...status });
        seen.synced += counts.synced;
        seen.conflicts += counts.conflicts;
      }
    }),
    { numRuns: propertyRuns(300) },
  );
  // Otherwise the property would say little.
  expect(Math.min(seen.synced, seen.conflicts)).toBeGreaterThan(0);
});
