// The health that Argo CD shows for each state of a policy or share. The Lua interpreter is that of Argo CD.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { kindDefinitions } from '../../../src/api/kinds.ts';
import { providerStatus, type StatusFacts } from '../../../src/policy/status/provider-status.ts';
import type { ProviderState } from '../../../src/policy/terms/provider-id.ts';
import { findGo } from '../../cluster/go-program.ts';
import { findLua, type Health } from '../../cluster/lua/lua.ts';
import { syncedFacts, syncedState } from '../../support/status-facts.ts';

const file = join(import.meta.dirname, '..', '..', '..', 'manifests', 'argocd', 'argocd-cm.yaml');
const { data } = parse(readFileSync(file, 'utf8')) as { readonly data: Readonly<Record<string, string>> };
const key = 'resource.customizations.health.reeve.dev_NamespacePolicy';

const hasGo = (await findGo()) !== undefined;
if (!hasGo && process.env['REEVE_CLUSTER_TESTS'] === 'required')
  throw new Error('Go is not on the PATH, so there is no Lua to test the health checks with');
const { skipIf } = describe;

async function healthOf(...objects: readonly object[]): Promise<readonly Health[]> {
  const lua = await findLua();
  if (lua === undefined) throw new Error('Go is not on the PATH');
  return await lua(data[key] ?? '', objects);
}

/** Returns a stored policy with the status that the reconciler writes for these facts. */
function policyWith(fields: Partial<StatusFacts>, state: Partial<ProviderState>): object {
  const facts = { ...syncedFacts, ...fields, state: { ...syncedState, ...state } };
  return {
    metadata: { name: 'p', generation: syncedState.generation },
    status: providerStatus(facts, undefined, new Date(0)),
  };
}

test('all kinds with a status have the same health check', () => {
  const kinds = kindDefinitions.filter(({ schemas }) => schemas.status !== undefined).map(({ kind }) => kind);
  expect(Object.keys(data)).toEqual(kinds.map((kind) => `resource.customizations.health.reeve.dev_${kind}`));
  expect(new Set(Object.values(data)).size).toBe(1);
});

const failures = [{ namespace: 'a', kind: 'Secret', name: 's', reason: 'Rejected', message: 'no' }];
const counts = syncedFacts.counts;

skipIf(!hasGo)('the health of a policy or share', { timeout: 600_000 }, () => {
  test.each<readonly [string, Partial<StatusFacts>, Partial<ProviderState>, Health]>([
    ['that is in sync', {}, {}, { status: 'Healthy', message: 'Synced: 3 objects are in sync' }],
    [
      'that matches no namespace',
      { matched: 0, counts: { ...counts, desired: 0, synced: 0 } },
      {},
      { status: 'Healthy', message: expect.stringMatching(/^MatchesNothing: /u) as string },
    ],
    [
      'with a failed object',
      { counts: { ...counts, failed: 1 }, failures },
      {},
      { status: 'Degraded', message: expect.stringMatching(/^Failed: 1 object failed/u) as string },
    ],
    [
      'with a conflict',
      { counts: { ...counts, conflicts: 1 }, failures },
      {},
      { status: 'Degraded', message: expect.stringMatching(/^Conflicts: /u) as string },
    ],
    [
      'with a missing source',
      { source: { kind: 'unavailable', reason: 'SourceMissing', message: 'there is no Secret x/y' } },
      {},
      { status: 'Degraded', message: 'SourceMissing: there is no Secret x/y' },
    ],
    [
      'that does not load',
      { problem: 'spec.match: is missing' },
      { isValid: false },
      { status: 'Degraded', message: 'Invalid: spec.match: is missing' },
    ],
    [
      'whose deletions the fuse holds back',
      { held: { count: 30, recent: 0, limit: 10, since: 0 } },
      {},
      { status: 'Degraded', message: expect.stringMatching(/^TooManyDeletions: /u) as string },
    ],
    [
      'with namespaces left to reconcile',
      { waiting: 2 },
      {},
      { status: 'Progressing', message: 'Reconciling: 2 namespaces left to reconcile' },
    ],
    [
      'that is being deleted',
      {},
      { isDeleting: true },
      { status: 'Progressing', message: expect.stringMatching(/^Deleting: /u) as string },
    ],
    [
      'that is suspended',
      {},
      { isSuspended: true },
      { status: 'Suspended', message: expect.stringMatching(/^Suspended: /u) as string },
    ],
    [
      'that is suspended with a failed object',
      { counts: { ...counts, failed: 1 }, failures },
      { isSuspended: true },
      { status: 'Suspended', message: expect.stringMatching(/^Suspended: /u) as string },
    ],
    [
      'whose newest version the reconciler has not seen',
      {},
      { generation: 2 },
      { status: 'Progressing', message: 'Reeve has not seen this version yet' },
    ],
  ])('a policy %s has the right health', async (_state, fields, state, expected) => {
    expect(await healthOf(policyWith(fields, state))).toEqual([expected]);
  });

  test('a policy without a status, or without conditions, is progressing', async () => {
    const metadata = { name: 'p', generation: 1 };
    const status = { observedGeneration: 1 };
    expect(await healthOf({ metadata }, { metadata, status })).toEqual([
      { status: 'Progressing', message: 'Reeve has not seen this version yet' },
      { status: 'Progressing', message: 'Reeve has not reported a state yet' },
    ]);
  });
});
