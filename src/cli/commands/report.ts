// The command `reeve report`: prints everything that is not as policies want it, and everything that ends.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { Clock } from '../../base/clock.ts';
import { nearestWord } from '../../base/nearest.ts';
import { parseGoDuration } from '../../base/time.ts';
import { unmanagedText, type LoadedState } from '../../inspect/explain/looked-at.ts';
import { collectReport, type ExistingObjects } from '../../inspect/report/collect.ts';
import { narrowedReport, type ReportScope } from '../../inspect/report/narrow.ts';
import { openReports } from '../../inspect/report/open-reports.ts';
import { reportCsv } from '../../inspect/report/report-csv.ts';
import { reportHtml } from '../../inspect/report/report-html.ts';
import { unreadText, type ClusterState, type Need } from '../../inspect/input/cluster-state.ts';
import { emptyText, headingText, textSections, type Grouping } from '../../inspect/report/report-text.ts';
import { plannedState } from '../../inspect/plan/planned-state.ts';
import type { ReportOutput } from '../../inspect/output-schemas/report-output.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import { hasAuditableRules } from '../../policy/decide/audit.ts';
import { roleBindingType, roleType, secretObjectType } from '../../policy/terms/provider-id.ts';
import { exitCodes } from '../exit-codes.ts';
import type { ReportFlags } from '../flags/report-settings.ts';
import { namedProviders } from '../flags/state-settings.ts';
import { withState, type StateIo } from '../input/chosen-state.ts';
import { dataText } from '../output/data-text.ts';
import { styleFor, type Style } from '../output/style.ts';
import { tableText } from '../output/table.ts';

export interface ReportIo extends StateIo {
  readonly stdout: (text: string) => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly isColored: boolean;
}

const needs: readonly Need[] = [
  ...(['install', 'providers', 'namespaces', 'provided', 'secrets', 'own-secrets'] as const),
  ...(['sources', 'namespaced-roles'] as const),
];

/** Returns the exit code. */
export async function runReport(
  flags: ReportFlags,
  environment: ApiServerChoice['environment'],
  io: ReportIo,
): Promise<number> {
  return await withState(flags, environment, { needs }, io, async (state, connection) => {
    const now = io.clock.now();
    const { cluster, planning } = plannedState(state, now);
    const whole = await collectReport({
      state,
      cluster,
      planning,
      existing: [
        ['roles', state.objects(roleType)],
        ['rolebindings', state.objects(roleBindingType)],
        ...(flags.secrets ? await secretsOf(state, connection) : []),
      ],
      now,
    });
    const { policies } = cluster.snapshot().policies;
    if (!flags.secrets && policies.some((policy) => hasAuditableRules(policy, 'secrets')))
      io.stderr('existing Secrets were not judged; --secrets judges them\n');
    const missing = missingIn(whole, flags, { state, cluster });
    for (const problem of missing) io.stderr(`${problem}\n`);
    const complete = codeOf(whole, missing);
    if (missing.length > 0) return complete;
    const { address: origin = whole.origin } = connection ?? {};
    const report = narrowedReport({ ...whole, origin }, scopeOf(flags, now));
    if (!flags.write || connection === undefined) {
      io.stdout(printed(report, flags, styleFor(io.isColored)));
      return complete;
    }
    const { writeReports } = await import('./report-writer.ts');
    const isWritten = await writeReports(openReports(report), connection, io.stderr);
    return isWritten ? complete : exitCodes.no;
  });
}

/** A cluster's Secrets are read page by page, and none is kept. */
async function secretsOf(state: ClusterState, connection?: ClusterConnection): Promise<ExistingObjects> {
  if (connection === undefined) return [['secrets', state.objects(secretObjectType)]];
  const { auditReaderOf } = await import('../../app/object-readers.ts');
  const { signal } = new AbortController();
  return [['secrets', auditReaderOf(connection).listExisting('secrets', undefined, signal)]];
}

function codeOf({ complete }: ReportOutput, missing: readonly string[]): number {
  if (!complete) return exitCodes.unknown;
  return missing.length === 0 ? exitCodes.done : exitCodes.no;
}

function scopeOf(flags: ReportFlags, now: Date): ReportScope {
  const { namespace, since = '' } = flags;
  const duration = parseGoDuration(since);
  return {
    namespaces: new Set(namespace),
    policies: new Set(namedProviders(flags).flatMap((read) => (read.ok ? [read.id] : []))),
    since: since === '' ? undefined : new Date(duration === undefined ? since : now.getTime() - duration),
  };
}

/** A misspelled name must not look like a namespace or policy where all is well. */
function missingIn({ policies }: ReportOutput, flags: ReportFlags, loaded: LoadedState): readonly string[] {
  const wrong = namedProviders(flags).flatMap((read) =>
    read.ok && !policies.includes(read.id) ? [`there is no ${read.id}${meant(read.id, policies)}`] : [],
  );
  return [...wrong, ...flags.namespace.flatMap((name) => unmanagedText(name, loaded) ?? [])];
}

function meant(name: string, known: readonly string[]): string {
  const near = nearestWord(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

function printed(
  report: ReportOutput,
  { output: format, groupBy }: Pick<ReportFlags, 'output' | 'groupBy'>,
  style: Style,
): string {
  switch (format) {
    case 'text':
      return reportText(report, groupBy, style);
    case 'json':
    case 'yaml':
      return dataText(format, report);
    case 'csv':
      return reportCsv(report);
    case 'html':
      return reportHtml(report);
    case 'openreports':
      return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: openReports(report) }, undefined, 2)}\n`;
    default:
      return format satisfies never;
  }
}

function reportText(report: ReportOutput, grouping: Grouping, style: Style): string {
  const sections = textSections(report, grouping).map(
    ({ title, rows }) => `\n${style.strong(title)}\n${tableText(rows, '  ')}`,
  );
  const empty = emptyText(report);
  const unread = unreadText(report.unread);
  const heading = `${headingText(report)}\n${unread === '' ? '' : `${style.strong(unread)}\n`}`;
  return `${heading}${sections.join('')}${empty === '' ? '' : `\n${style.faint(empty)}\n`}`;
}
