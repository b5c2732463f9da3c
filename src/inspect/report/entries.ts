// Builds the entries of a report from the engine's results of one policy in one namespace, and orders them.
import { kindOfKey, nameOfKey, type ObjectKey, type ObjectType } from '../../base/object-type.ts';
import { compareProviders, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { ObjectResult } from '../../policy/plan/observed.ts';
import type { Violation } from '../../policy/terms/review.ts';
import {
  reportSections,
  type ReportCell,
  type ReportEntry,
  type ReportOutput,
} from '../output-schemas/report-output.ts';
import type { PolicyException } from '../../api/namespace-policy/namespace-policy.ts';
import { rfc3339 } from '../../base/time.ts';
import { alternatives } from '../../base/text.ts';
import { grantText } from '../input/access.ts';
import type { Desired } from '../../policy/desired/desired.ts';
import { compileException, isInForce, overrideIn, overrideText } from '../../policy/terms/match.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import { nameOf, type KubeObject } from '../../base/metadata.ts';

export type ReportSection = ReportEntry['section'];

/** The policy and namespace of an entry. The namespace is missing if the entry concerns no single one. */
export interface EntryPlace {
  readonly policy: ProviderId;
  readonly namespace?: string;
}

export interface ReportedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

export function violationEntry(
  place: EntryPlace,
  object: ReportedObject,
  { rule, path, found, accepted, message }: Violation,
  actions: string,
): ReportEntry {
  const why = message === undefined ? {} : { message };
  return { section: 'violation', ...place, object, rule, path, found, accepted, ...why, actions };
}

const sections = { conflict: 'conflict', failed: 'blocked', undesired: 'held' } as const;

/** Returns undefined for an object in sync. */
export function resultEntry(
  { provider, key, state, reason, message }: ObjectResult,
  namespace: string,
  typeOf: (key: ObjectKey) => ObjectType,
): ReportEntry | undefined {
  if (state === 'synced') return undefined;
  const { apiVersion } = typeOf(key);
  const object = { apiVersion, kind: kindOfKey(key), namespace, name: nameOfKey(key) };
  return { section: sections[state], policy: provider, namespace, object, reason, message };
}

/** Sorts by section, then by end, policy, namespace and object. Entries without an end come last. */
export function inReportOrder(entries: readonly ReportEntry[]): readonly ReportEntry[] {
  return entries.toSorted(
    (a, b) =>
      reportSections.indexOf(a.section) - reportSections.indexOf(b.section) ||
      compareTexts(a.until ?? 'never', b.until ?? 'never') ||
      compareProviders(idOf(a.policy), idOf(b.policy)) ||
      compareTexts(a.namespace ?? '', b.namespace ?? '') ||
      // Violations of one object keep their order: causes come before consequences.
      compareTexts(objectText(a), objectText(b)),
  );
}

/** Returns the cells by policy, then by namespace. `entries` must be sorted. */
export function cellsOf(
  matched: ReadonlyMap<ProviderId, readonly string[]>,
  entries: readonly ReportEntry[],
): readonly ReportCell[] {
  const byPolicy = Map.groupBy(entries, ({ policy }) => policy);
  const policies = new Set<string>([...matched.keys(), ...byPolicy.keys()]);
  return sortedProviders(policies).flatMap((policy) => {
    const byNamespace = Map.groupBy(byPolicy.get(policy) ?? [], ({ namespace = '' }) => namespace);
    const namespaces = new Set([...(matched.get(policy) ?? []), ...byNamespace.keys()]);
    namespaces.delete('');
    return [...namespaces].sort().map((namespace) => ({
      policy,
      namespace,
      counts: countsIn(byNamespace.get(namespace) ?? []),
    }));
  });
}

/** Returns the number of entries of each section. */
export function countsIn(entries: readonly ReportEntry[]): ReportCell['counts'] {
  const bySection = Map.groupBy(entries, ({ section }) => section);
  return Object.fromEntries([...bySection].map(([section, all]) => [section, all.length]));
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each policy of an entry is the id of a provider
const idOf = (policy: string): ProviderId => policy as ProviderId;

function sortedProviders(policies: Iterable<string>): readonly ProviderId[] {
  return [...policies].map(idOf).sort(compareProviders);
}

export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Example: `RoleBinding/developers`. Empty for an entry without an object. */
export function objectText({ object }: Pick<ReportEntry, 'object'>): string {
  return object === undefined ? '' : `${object.kind}/${object.name}`;
}

// Builds the entries of what expires: exceptions in force, and RoleBindings with an end.

const maxSubjects = 5;

/** Returns one entry for each matched namespace that the exception covers. If there is none, one entry has no namespace. */
export function exceptionEntries(
  policy: ProviderId,
  exceptions: readonly PolicyException[],
  matched: readonly string[],
  now: Date,
): readonly ReportEntry[] {
  return exceptions.flatMap((exception): readonly ReportEntry[] => {
    const compiled = compileException(exception);
    if (!isInForce(compiled, now)) return [];
    const { namespaces, expiresAt } = compiled;
    const entryFor = (namespace: string | undefined, message: string | undefined): ReportEntry => ({
      section: 'exception',
      policy,
      ...(namespace === undefined ? {} : { namespace }),
      rule: [...(exception.rules ?? []), ...(exception.contents ?? [])].join(', '),
      ...(message === undefined ? {} : { message }),
      ...(expiresAt === undefined ? {} : { until: rfc3339(new Date(expiresAt)) }),
    });
    const covered = matched.filter((name) => namespaces.some((glob) => glob.matches(name)));
    if (covered.length > 0) return covered.map((namespace) => entryFor(namespace, exception.reason));
    const patterns = alternatives(exception.namespaces, maxSubjects);
    return [entryFor(undefined, `covers no namespace that the policy matches: ${patterns}`)];
  });
}

/** Returns one entry for each of these namespaces in which an override decides. If an override covers none, one entry says so. */
export function overrideEntries(
  policy: CompiledPolicy,
  matched: readonly KubeObject[],
  now: Date,
): readonly ReportEntry[] {
  const decided = Map.groupBy(matched, (each) => overrideIn(policy.overrides, each, now));
  return policy.overrides.flatMap((override): readonly ReportEntry[] => {
    if (!isInForce(override, now)) return [];
    const { expiresAt } = override;
    const common = {
      section: 'exception',
      policy: policy.id,
      rule: 'all',
      message: overrideText(policy, override),
      ...(expiresAt === undefined ? {} : { until: rfc3339(new Date(expiresAt)) }),
    } as const;
    const covered = decided.get(override) ?? [];
    if (covered.length > 0) return covered.map((each) => ({ ...common, namespace: nameOf(each) }));
    return [{ ...common, message: `decides in no namespace that the policy matches: ${common.message}` }];
  });
}

/** If several providers want one RoleBinding, only the first claim counts. */
export function grantEntries({ claims }: Desired, namespace: string): readonly ReportEntry[] {
  return [...claims.values()].flatMap(([claim]) => {
    if (claim?.expiresAt === undefined || claim.content.kind !== 'object') return [];
    const { provider, type, name, content, expiresAt } = claim;
    return [
      {
        section: 'grant',
        policy: provider,
        namespace,
        object: { ...type, namespace, name },
        message: grantText(content.body),
        until: rfc3339(new Date(expiresAt)),
      },
    ];
  });
}

/** Example: `2027-01-31T00:00:00Z (in 69 days)`. */
export function untilText(until: string | undefined, time: string): string {
  if (until === undefined) return 'no end';
  const minutes = Math.floor((Date.parse(until) - Date.parse(time)) / 60_000);
  if (minutes < 1) return `${until} (in less than a minute)`;
  const [amount, unit] =
    minutes >= 48 * 60
      ? [Math.floor(minutes / (24 * 60)), 'day']
      : minutes >= 120
        ? [Math.floor(minutes / 60), 'hour']
        : [minutes, 'minute'];
  return `${until} (in ${amount} ${unit}${amount === 1 ? '' : 's'})`;
}

// Filters a report by namespaces, policies and time.

export interface ReportScope {
  /** Empty: all. */
  readonly namespaces: ReadonlySet<string>;
  /** Empty: all. */
  readonly policies: ReadonlySet<string>;
  /** Only entries about objects that were written since then. */
  readonly since: Date | undefined;
}

export function narrowedReport(
  report: ReportOutput,
  { namespaces, policies, since }: ReportScope,
): ReportOutput {
  const isWanted = (each: { readonly policy: string; readonly namespace?: string }): boolean =>
    isIn(policies, each.policy) && (namespaces.size === 0 || namespaces.has(each.namespace ?? ''));
  const isNew = ({ written }: { readonly written?: string }): boolean =>
    since === undefined || (written !== undefined && Date.parse(written) >= since.getTime());
  return {
    ...report,
    policies: report.policies.filter((each) => isIn(policies, each)),
    namespaces: report.namespaces.filter((each) => isIn(namespaces, each)),
    entries: report.entries.filter((each) => isWanted(each) && isNew(each)),
    cells: report.cells.filter(isWanted),
  };
}

function isIn(wanted: ReadonlySet<string>, name: string): boolean {
  return wanted.size === 0 || wanted.has(name);
}
