// The facts about a policy whose three objects are in sync, for tests of what statuses say.
import type { StatusFacts } from '../../src/policy/status/provider-status.ts';
import type { ProviderState } from '../../src/policy/terms/provider-id.ts';
import { defaultProviderState } from './owner-state.ts';

export const syncedState: ProviderState = { ...defaultProviderState, generation: 3, maxDeletions: 10 };

export const noViolations = { count: 0, byResource: { namespaces: 0 }, top: [], leavesOutSecrets: false };

export const syncedFacts: StatusFacts = {
  state: syncedState,
  problem: undefined,
  counts: { desired: 3, synced: 3, conflicts: 0, failed: 0, stuck: 0, held: 0, skipped: 0 },
  failures: [],
  skipped: [],
  withoutEffect: [],
  cost: undefined,
  waiting: 0,
  held: undefined,
  source: undefined,
  missingRights: [],
  partsWithoutHook: [],
  matched: 2,
  matchedNamespaces: ['a', 'b'],
  violations: noViolations,
  isConfirmationSpent: true,
};
