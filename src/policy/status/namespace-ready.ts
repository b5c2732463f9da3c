// Derives the conditions of a Namespace: reeve.dev/Ready on the objects of policies and shares, reeve.dev/Compliant on rules.
import {
  compliantCondition,
  managedByLabel,
  managedByReeve,
  ownerAnnotation,
  readyCondition,
} from '../../schema/names.ts';
import { clipped, counted } from '../../base/text.ts';
import type { Desired } from '../desired/desired.ts';
import { kindOfKey, nameOfKey, type ObjectKey } from '../../base/object-type.ts';
import { shortName, type ProviderId } from '../terms/provider-id.ts';
import type { Agreement, ObjectResult, Observed } from '../plan/observed.ts';
import type { WaveStanding } from '../plan/repair.ts';
import type { Condition } from '../../base/condition.ts';
import { matchErrorText, type MatchError } from '../terms/match.ts';
import { violationText, type Violation } from '../terms/review.ts';

const maxMessageLength = 1024;

export function namespaceReadiness(
  { claims, fields, frozen, skipped }: Pick<Desired, 'claims' | 'fields' | 'frozen' | 'skipped'>,
  results: readonly ObjectResult[],
  unowned: readonly Pick<Observed, 'key'>[],
): Condition {
  const unsatisfied = firstUnsatisfied(results);
  if (unsatisfied !== undefined) {
    const { provider, key, reason, message } = unsatisfied;
    return notReady(reason, `${kindOfKey(key)} ${nameOfKey(key)} of ${provider}: ${message}`);
  }
  for (const [provider, { reason, message }] of frozen)
    if (reason !== 'Suspended') return notReady(reason, `${provider}: ${message}`);
  const lacksOwner = unowned.map(({ key }) => key).toSorted()[0];
  if (lacksOwner !== undefined) return notReady('OwnerMissing', withoutOwner(lacksOwner));
  const isEmpty = claims.size + fields.size === 0;
  if (skipped.length > 0) {
    // One object can satisfy two providers.
    const synced = new Set(results.filter(({ state }) => state === 'synced').map(({ key }) => key));
    return ready(isEmpty ? 'NothingProvided' : 'Synced', skippedMessage(synced.size, skipped));
  }
  // The message holds no count, so that a new share does not cost a write in every namespace.
  return isEmpty
    ? ready('NothingProvided', 'no policy or share provides objects here')
    : ready('Synced', 'all objects of policies and shares are in sync');
}

/** The condition of a Namespace that is being deleted: its objects disappear, whatever its condition was before. */
export const terminatingReadiness: Condition = notReady(
  'NamespaceTerminating',
  'the namespace is being deleted, so Reeve leaves its objects alone',
);

/** Reeve cannot tell whether the object is needed, so it neither deletes nor releases it. */
function withoutOwner(key: ObjectKey): string {
  return (
    `${kindOfKey(key)} ${nameOfKey(key)} has the label ${managedByLabel}=${managedByReeve} but no annotation ` +
    `${ownerAnnotation} with a policy or share, so Reeve leaves it alone, and the guard lets no user change it; ` +
    'a member of the group reeve:break-glass can delete it or remove the label'
  );
}

/** Example: `3 of 4 provided; RoleBinding viewers skipped: annotation ad/view is missing`. */
function skippedMessage(synced: number, skipped: Desired['skipped']): string {
  const [first] = skipped;
  const more = skipped.length - 1;
  const reason = first === undefined ? '' : `; ${first.type.kind} ${first.name} skipped: ${first.message}`;
  return `${synced} of ${synced + skipped.length} provided${reason}${more > 0 ? `, and ${more} more` : ''}`;
}

/** Returns the first result by key, so that the order of the work does not change the message. */
function firstUnsatisfied(results: readonly ObjectResult[]): ObjectResult | undefined {
  return results
    .filter(({ state }) => state !== 'synced')
    .reduce<ObjectResult | undefined>(
      (first, each) => (first === undefined || rankOf(each) < rankOf(first) ? each : first),
      undefined,
    );
}

/** Missing objects come before unwanted ones. The error of an owner comes before conflicts of other providers. */
function rankOf({ key, state, provider }: ObjectResult): string {
  return `${state === 'undesired' ? 1 : 0} ${key} ${state === 'failed' ? 0 : 1} ${provider}`;
}

function ready(reason: string, message: string): Condition {
  return { type: readyCondition, status: 'True', reason, message: clipped(message, maxMessageLength) };
}

function notReady(reason: string, message: string): Condition {
  return { type: readyCondition, status: 'False', reason, message: clipped(message, maxMessageLength) };
}

/** The result of one policy with rules that judge the Namespace. */
export interface JudgedBy {
  readonly policy: ProviderId;
  readonly violations: readonly Violation[];
}

/**
 * The owners of a namespace can read its conditions without rights on policies. Returns no condition for a Namespace that
 * no rule judges.
 */
export function namespaceCompliance(judged: readonly JudgedBy[]): readonly Condition[] {
  if (judged.length === 0) return [];
  const lines = judged.flatMap(({ policy, violations }) =>
    violations.map(
      (each) => `policy ${shortName(policy)}, ${each.rule}: ${violationText(each)}${askOf(each)}`,
    ),
  );
  const type = compliantCondition;
  if (lines.length === 0)
    return [{ type, status: 'True', reason: 'NoViolations', message: 'the Namespace violates no rule' }];
  const message = clipped(`${counted(lines.length, 'violation')}: ${lines.join('; ')}`, maxMessageLength);
  return [{ type, status: 'False', reason: 'Violated', message }];
}

function askOf({ contact }: Violation): string {
  return contact === undefined ? '' : ` (ask ${contact})`;
}

// Counts the objects of each policy and share in one namespace: those in sync, and the others.

/** An entry of `status.failures`. */
export interface UnsyncedObject {
  readonly namespace: string;
  /** Left out if the provider failed in the namespace as a whole. */
  readonly kind?: string;
  readonly name?: string;
  readonly reason: string;
  readonly message: string;
}

/** An entry of `status.skippedContents`. */
export interface SkippedObject {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** The label or annotation that is missing. */
  readonly message: string;
}

/** The report of one namespace on one provider. */
export interface ProviderReport {
  readonly desired: number;
  readonly synced: number;
  readonly conflicts: number;
  readonly failed: number;
  /** Objects that are no longer wanted and that Reeve cannot remove. */
  readonly stuck: number;
  /** Objects that the fuse held when the namespace was reconciled. The fuse knows the present number. */
  readonly held: number;
  readonly failures: readonly UnsyncedObject[];
  readonly skipped: readonly SkippedObject[];
  /** One entry for each object in sync that another provider wants in the same form. */
  readonly agreements: readonly Agreement[];
  readonly isMatched: boolean;
  readonly violations: readonly Violation[];
  /** When the next object of the provider expires, in milliseconds since the epoch. */
  readonly nextExpiry: number | undefined;
  /** The value of the quota label, if the namespace counts for the quota of the policy. */
  readonly quotaValue: string | undefined;
  /** The cost of the policy in the namespace. Small costs count as 0, so that small differences change no report. */
  readonly units: number;
  /** The place of the namespace in the waves of the policy. Undefined without waves, and where it keeps another value. */
  readonly wave?: WaveStanding | undefined;
}

export const emptyReport: ProviderReport = {
  desired: 0,
  synced: 0,
  conflicts: 0,
  failed: 0,
  stuck: 0,
  held: 0,
  failures: [],
  skipped: [],
  agreements: [],
  isMatched: false,
  violations: [],
  nextExpiry: undefined,
  quotaValue: undefined,
  units: 0,
};

/** Returns the report on a policy with rules alone, whose match has an error for the namespace. */
export function unmatchedReport(namespace: string, error: MatchError): ProviderReport {
  const failure = { namespace, reason: 'MatchFailed', message: matchErrorText(error) };
  return { ...emptyReport, failed: 1, failures: [failure] };
}

/** Returns the report on each provider. Held deletions are no failures: the fuse reports them. */
export function providerReports(
  namespace: string,
  {
    frozen,
    providers,
    skipped,
    expiries,
    units,
  }: Pick<Desired, 'frozen' | 'providers' | 'skipped' | 'expiries' | 'units'>,
  results: readonly ObjectResult[],
): ReadonlyMap<ProviderId, ProviderReport> {
  const reports = new Map<ProviderId, ProviderReport>(
    providers.map((provider) => [
      provider,
      {
        ...emptyReport,
        isMatched: frozen.get(provider)?.reason !== 'MatchFailed',
        nextExpiry: expiries.get(provider),
        units: units.get(provider) ?? 0,
      },
    ]),
  );
  const add = (provider: ProviderId, change: (report: ProviderReport) => ProviderReport): void => {
    reports.set(provider, change(reports.get(provider) ?? emptyReport));
  };
  for (const result of results) add(result.provider, (report) => withResult(report, namespace, result));
  for (const { provider, type, name, message } of skipped) {
    const entry = { namespace, kind: type.kind, name, message };
    add(provider, (report) => ({ ...report, skipped: [...report.skipped, entry] }));
  }
  for (const [provider, { reason, message }] of frozen) {
    // Suspension is no failure. An error of a match or template counts as one failed object.
    if (reason === 'Suspended') continue;
    const failure = { namespace, reason, message };
    add(provider, (report) => ({
      ...report,
      desired: report.desired + 1,
      failed: report.failed + 1,
      failures: [...report.failures, failure],
    }));
  }
  return reports;
}

function withResult(report: ProviderReport, namespace: string, result: ObjectResult): ProviderReport {
  const { key, state, reason, message, agreement } = result;
  const failures = [
    ...report.failures,
    { namespace, kind: kindOfKey(key), name: nameOfKey(key), reason, message },
  ];
  const desired = report.desired + 1;
  switch (state) {
    case 'synced':
      return {
        ...report,
        desired,
        synced: report.synced + 1,
        agreements: [...report.agreements, ...(agreement === undefined ? [] : [agreement])],
      };
    case 'conflict':
      return { ...report, desired, conflicts: report.conflicts + 1, failures };
    case 'failed':
      return { ...report, desired, failed: report.failed + 1, failures };
    case 'undesired':
      if (reason === 'TooManyDeletions') return { ...report, held: report.held + 1 };
      return reason === 'Invalid' ? report : { ...report, stuck: report.stuck + 1, failures };
    default:
      return state satisfies never;
  }
}
