// Builds the OpenReports Reports, one for each namespace. https://github.com/openreports/reports-api/blob/main/docs/api-docs.md
import { createHash } from 'node:crypto';
import { group } from '../../schema/names.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { ReportEntry, ReportOutput } from '../output-schemas/report-output.ts';
import { type ReportSection, cellsOf, inReportOrder } from './entries.ts';
import { whyText } from './report-text.ts';
import type { NamespaceReports } from '../../reconcile/reports/report-keeper.ts';
import { Collector } from './collect.ts';

export const openReportType = { apiVersion: 'openreports.io/v1alpha1', kind: 'Report' } as const;
const openReportName = 'reeve';
/** The label of all Reports that Reeve writes. */
export const openReportLabel = `${group}/report`;

/** An object of the API server can have about 1.5 MiB, and a result takes up to 2 KiB. */
const maxResults = 200;
const maxText = 1000;

/** Ordered from the worst to the best. */
const outcomes = ['fail', 'error', 'warn', 'skip', 'pass'] as const;
type Outcome = (typeof outcomes)[number];

const severities: Readonly<Record<Outcome, string>> = {
  fail: 'high',
  error: 'medium',
  warn: 'medium',
  skip: 'low',
  pass: 'info',
};

const outcomesOf: Readonly<Record<Exclude<ReportSection, 'violation'>, Outcome>> = {
  conflict: 'fail',
  blocked: 'error',
  held: 'warn',
  skipped: 'skip',
  exception: 'skip',
  grant: 'pass',
};

interface Result extends JsonObject {
  readonly policy: string;
  readonly result: Outcome;
}

/** Builds no Report for a namespace that no policy matches. */
export function openReports(
  report: Pick<ReportOutput, 'cells' | 'entries' | 'namespaces' | 'time'>,
): readonly KubeObject[] {
  const cells = Map.groupBy(report.cells, ({ namespace }) => namespace);
  const entries = Map.groupBy(report.entries, ({ namespace = '' }) => namespace);
  const timestamp = { seconds: Math.floor(Date.parse(report.time) / 1000), nanos: 0 };
  return report.namespaces.flatMap((namespace) => {
    const own = cells.get(namespace) ?? [];
    if (own.length === 0) return [];
    const good = own.filter(({ counts }) => Object.keys(counts).length === 0);
    const results = [
      ...(entries.get(namespace) ?? []).map(resultOf),
      ...good.map(({ policy }): Result => ({
        policy,
        result: 'pass',
        severity: severities.pass,
        message: 'all is as the policy wants it',
      })),
    ].sort((a, b) => outcomes.indexOf(a.result) - outcomes.indexOf(b.result));
    return [reportOf(namespace, results, timestamp)];
  });
}

/** Compares without the times. The time of a result is the time of the write, so an equal Report is not written again. */
export function isSameReport(live: KubeObject | undefined, report: KubeObject): boolean {
  return live !== undefined && reportDigest(live) === reportDigest(report);
}

/** Returns the same digest for two Reports that differ only in their times. */
function reportDigest({ scope, summary, results, source }: KubeObject): string {
  const all: readonly unknown[] = Array.isArray(results) ? results : [];
  const timeless = all.map((result) => (isJsonObject(result) ? { ...result, timestamp: undefined } : result));
  const text = JSON.stringify({ scope, summary, source, results: timeless }, withSortedKeys);
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Sorts keys, because the API server stores the keys of an object by name. */
function withSortedKeys(_key: string, value: unknown): unknown {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}

function reportOf(namespace: string, results: readonly Result[], timestamp: JsonObject): KubeObject {
  const shown =
    results.length <= maxResults ? results : [...results.slice(0, maxResults - 1), moreResult(results)];
  const counts = outcomes.map((outcome) => [
    outcome,
    results.filter(({ result }) => result === outcome).length,
  ]);
  return {
    ...openReportType,
    metadata: { name: openReportName, namespace, labels: { [openReportLabel]: 'true' } },
    source: 'reeve',
    scope: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
    summary: Object.fromEntries(counts),
    results: shown.map((result) => ({ ...result, timestamp })),
  };
}

function moreResult(results: readonly Result[]): Result {
  const { policy, result } = results[maxResults - 1] ?? { policy: '', result: 'pass' };
  const message = `and ${results.length - maxResults + 1} more results; summary counts all`;
  return { policy, result, severity: severities[result], message };
}

function resultOf(entry: ReportEntry): Result {
  const { section, policy, namespace, object, rule, actions = '' } = entry;
  const violated = actions.includes('Deny') ? 'fail' : 'warn';
  const result = section === 'violation' ? violated : outcomesOf[section];
  return {
    policy,
    ...(rule === undefined ? {} : { rule: clipped(rule, maxText) }),
    category: section,
    result,
    severity: severities[result],
    message: clipped(whyText(entry), maxText),
    resources: [
      object === undefined ? { apiVersion: 'v1', kind: 'Namespace', name: namespace ?? '' } : { ...object },
    ],
    ...propertiesOf(entry),
  };
}

function propertiesOf({ path, found, accepted, reason, until }: ReportEntry): JsonObject {
  const given = Object.entries({ path, found, accepted, reason, until }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, clipped(value, maxText)] as const],
  );
  return given.length === 0 ? {} : { properties: Object.fromEntries(given) };
}

// Builds the Report of one namespace for the reconciler, as `reeve report --write` builds it.

export const namespaceReports: NamespaceReports = {
  type: openReportType,
  name: openReportName,
  label: openReportLabel,
  digestOf: reportDigest,
  reportOf: async ({ plan, existing, ...input }) => {
    const found = new Collector({ ...input, unread: [] });
    found.addNamespace(plan);
    await found.addExisting(existing);
    found.addProviders();
    const entries = inReportOrder(found.entries);
    const cells = cellsOf(found.matched, entries);
    const namespaces = [nameOf(plan.namespaceObject)];
    const [report] = openReports({ entries, cells, namespaces, time: input.now.toISOString() });
    return report;
  },
};
