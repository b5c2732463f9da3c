// What one namespace says about each policy and share: how many of its objects are there, and what is wrong.
import { kindOfKey, nameOfKey } from '../compile/object-key.ts';
import type { Desired } from '../desired/desired.ts';
import type { ObjectResult } from '../plan/object-result.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { Violation } from '../terms/verdict.ts';

export interface UnsyncedObject {
  readonly namespace: string;
  /** Left out where no object can be named. */
  readonly kind?: string;
  readonly name?: string;
  readonly reason: string;
  readonly message: string;
}

export interface ProviderReport {
  readonly desired: number;
  readonly synced: number;
  readonly conflicts: number;
  readonly failed: number;
  /** Objects that are there, should not be, and cannot be removed. */
  readonly stuck: number;
  readonly failures: readonly UnsyncedObject[];
  readonly isMatched: boolean;
  readonly violations: readonly Violation[];
  /** The value under which the namespace counts for the policy's quota. */
  readonly quotaValue: string | undefined;
}

export const emptyReport: ProviderReport = {
  desired: 0,
  synced: 0,
  conflicts: 0,
  failed: 0,
  stuck: 0,
  failures: [],
  isMatched: false,
  violations: [],
  quotaValue: undefined,
};

/** What the outcomes of a namespace come to for each owner. Held deletions are the fuse's to report. */
export function providerReports(
  namespace: string,
  { frozen, providers }: Pick<Desired, 'frozen' | 'providers'>,
  outcomes: readonly ObjectResult[],
): ReadonlyMap<ProviderId, ProviderReport> {
  const parts = new Map<ProviderId, ProviderReport>(
    providers.map((owner) => [
      owner,
      { ...emptyReport, isMatched: frozen.get(owner)?.reason !== 'MatchFailed' },
    ]),
  );
  const add = (owner: ProviderId, change: (part: ProviderReport) => ProviderReport): void => {
    parts.set(owner, change(parts.get(owner) ?? emptyReport));
  };
  for (const outcome of outcomes) add(outcome.owner, (part) => withOutcome(part, namespace, outcome));
  for (const [owner, { reason, message }] of frozen) {
    // What is suspended is as it should be; what cannot be worked out is not, and counts once.
    if (reason === 'Suspended') continue;
    const failure = { namespace, reason, message };
    add(owner, (part) => ({
      ...part,
      desired: part.desired + 1,
      failed: part.failed + 1,
      failures: [...part.failures, failure],
    }));
  }
  return parts;
}

function withOutcome(part: ProviderReport, namespace: string, outcome: ObjectResult): ProviderReport {
  const { key, state, reason, message } = outcome;
  const failures = [
    ...part.failures,
    { namespace, kind: kindOfKey(key), name: nameOfKey(key), reason, message },
  ];
  const desired = part.desired + 1;
  switch (state) {
    case 'synced':
      return { ...part, desired, synced: part.synced + 1 };
    case 'conflict':
      return { ...part, desired, conflicts: part.conflicts + 1, failures };
    case 'failed':
      return { ...part, desired, failed: part.failed + 1, failures };
    case 'undesired':
      return reason === 'TooManyDeletions' ? part : { ...part, stuck: part.stuck + 1, failures };
    default:
      return state satisfies never;
  }
}
