// Property of `reeve plan`: it lists exactly the writes that the reconciler then makes.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { apiVersion } from '../../src/schema/names.ts';
import type { KubeObject } from '../../src/base/metadata.ts';
import { parity } from '../support/plan-parity.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { begun, policySpec, shareSpec, wildOps, type Op } from '../support/reconcile-actions.ts';

/** Errors of the API server and restarts say nothing about what is wanted. */
const faults = /^(?:the API server answers|restart|relist)/;
const ops = fc.array(
  fc.oneof(...wildOps).filter(({ name }) => !faults.test(name)),
  { maxLength: 12 },
);

function file(kind: string) {
  return ([name, spec]: readonly [string, object]): KubeObject => ({
    apiVersion,
    kind,
    metadata: { name },
    spec: { deletionPolicy: 'Delete', suspend: false, ...spec },
  });
}

const maxDeletions = fc.constantFrom(0, 1, 1000);
const files = fc
  .array(
    fc.oneof(
      fc
        .tuple(fc.constantFrom('p1', 'p2'), policySpec, maxDeletions)
        .map(([name, spec, max]) => file('NamespacePolicy')([name, { ...spec, maxDeletions: max }])),
      fc
        .tuple(fc.constantFrom('s1', 's2'), shareSpec, maxDeletions)
        .map(([name, spec, max]) => file('SecretShare')([name, { ...spec, maxDeletions: max }])),
    ),
    { maxLength: 3 },
  )
  .map((all) => [...new Map(all.map((each) => [each.metadata.name, each])).values()]);

async function runAll(h: Awaited<ReturnType<typeof begun>>, all: readonly Op[]): Promise<void> {
  for (const { run } of all) await run(h);
}

test('a plan lists exactly the writes that the reconciler then makes', async () => {
  await fc.assert(
    fc.asyncProperty(ops, ops, files, async (history, drift, applied) => {
      const h = await begun();
      await runAll(h, history);
      await h.settle();
      await h.stop();
      await runAll(h, drift);
      const { planned, written } = await parity(h, applied, ['v1/ResourceQuota']);
      expect(planned).toEqual(written);
    }),
    { numRuns: propertyRuns(400) },
  );
});

test('a plan lists objects that a policy takes over from another one without a change of their content', async () => {
  const match = { namespaceSelector: { matchLabels: { a: 'yes' } } };
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'team' },
    spec: { hard: { pods: '6' } },
  };
  const contents = { resources: [quota] };
  const h = await begun();
  h.policy('p1', { match, contents });
  await h.settle();
  await h.stop();
  const applied = [
    file('NamespacePolicy')(['p1', { match }]),
    file('NamespacePolicy')(['p2', { match, contents }]),
  ];
  const { plan, planned, written } = await parity(h, applied, ['v1/ResourceQuota']);
  expect(planned).toEqual(written);
  expect(plan.namespaces.flatMap(({ changes }) => changes)).toSatisfy(
    (all: readonly { certain: boolean }[]) => all.every(({ certain }) => certain),
  );
  expect(planned).toEqual(['n1', 'n2', 'n3'].map((name) => `update ResourceQuota ${name}/team`));
});
