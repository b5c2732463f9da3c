// Prints everything that differs from the policies, and everything that expires: the command `reeve report`.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { nearestWord } from '../../base/nearest.ts';
import { isDateTime, parseGoDuration } from '../../base/time.ts';
import { unmanagedText, type LoadedState } from '../../inspect/explain/looked-at.ts';
import { collectReport, type ExistingObjects } from '../../inspect/report/collect.ts';
import { narrowedReport, type ReportScope } from '../../inspect/report/entries.ts';
import { openReports } from '../../inspect/report/open-reports.ts';
import {
  reportCsv,
  emptyText,
  headingText,
  textSections,
  type Grouping,
} from '../../inspect/report/report-text.ts';
import { reportHtml } from '../../inspect/report/report-html.ts';
import { unreadText, type ClusterState, type Need } from '../../inspect/input/cluster-state.ts';
import { planningState } from '../../inspect/input/loaded-state.ts';
import type { ReportOutput } from '../../inspect/output-schemas/report-output.ts';
import { hasAuditableRules } from '../../policy/compile/snapshot.ts';
import { roleBindingType, roleType, secretObjectType } from '../../base/object-type.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import {
  filesSetting,
  labelKeyAccepted,
  outputSetting,
  parseLabelKey,
  pathArguments,
} from '../flags/common-settings.ts';
import {
  choiceSetting,
  optionalText,
  switchSetting,
  withoutVariable,
  type Setting,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import {
  stateProblems,
  clusterSettings,
  installOverrides,
  namedProviders,
  namespacesSetting,
  providerSettings,
  stateBeside,
} from '../flags/state-settings.ts';
import { withState } from '../input/chosen-state.ts';
import { jsonText, yamlText } from '../output/data-text.ts';
import { styleFor, type Style } from '../output/style.ts';
import { tableText } from '../output/table.ts';

const needs: readonly Need[] = [
  ...(['install', 'providers', 'namespaces', 'provided', 'secrets', 'own-secrets'] as const),
  ...(['sources', 'namespaced-roles'] as const),
];

const outputs = {
  text: (report: ReportOutput, { groupBy }: { readonly groupBy: Grouping }, isColored: boolean) =>
    reportText(report, groupBy, styleFor(isColored)),
  json: jsonText,
  yaml: yamlText,
  csv: reportCsv,
  html: reportHtml,
  openreports: (report: ReportOutput) =>
    `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: openReports(report) }, undefined, 2)}\n`,
};

const flags = {
  filename: filesSetting(
    'Report on the objects of this file or folder; - is standard input. May be given several times. With a cluster: in place of its objects of the same names.',
  ),
  state: stateBeside,
  ...clusterSettings,
  namespace: namespacesSetting('Only this namespace.'),
  allNamespaces: {
    ...withoutVariable(switchSetting('All namespaces, which is the default.')),
    short: 'A',
  },
  ...providerSettings('that the report is about'),
  since: {
    ...withoutVariable(
      optionalText({
        placeholder: 'TIME',
        help: 'Only entries about objects that were created or changed since then, such as those of an outage.',
        accepted: 'a duration such as 2h, or a time such as 2026-11-23T08:00:00Z',
      }),
    ),
    parse: (texts) => {
      const value = texts.at(-1) ?? '';
      const isTime = parseGoDuration(value) !== undefined || isDateTime(value);
      return isTime ? { ok: true, value } : { ok: false };
    },
  } as Setting<string | undefined>,
  groupBy: withoutVariable(
    choiceSetting<Grouping>('cause', ['cause', 'namespace', 'team'], {
      placeholder: 'GROUP',
      help: 'How the tables for people are divided. In each, entries with the same cause share a row.',
    }),
  ),
  teamLabel: withoutVariable({
    ...optionalText({
      placeholder: 'KEY',
      help: 'The label of a Namespace whose value is its team. Default: that of the install.',
      accepted: labelKeyAccepted,
    }),
    parse: parseLabelKey,
  }),
  output: outputSetting(
    outputs,
    'Tables for people, JSON, YAML or CSV for programs, one page for a browser, or a List of the Reports of openreports.io.',
  ),
  secrets: withoutVariable(
    switchSetting(
      'Also judge existing Secrets by the rules of policies. On a cluster, this reads all Secrets, page by page.',
    ),
  ),
  write: withoutVariable(
    switchSetting(
      'Write the Report of each namespace to the cluster in place of printing. Needs the kind Report of openreports.io, and the rights to list, create, patch and delete it.',
    ),
  ),
  ...installOverrides,
} satisfies Settings;

type ReportFlags = Values<typeof flags>;

export const command = commandOf({
  flags,
  outputs,
  run: runReport,
  positionals: pathArguments,
  check: checkedReport,
  details: `The report lists violations, conflicts, objects that are blocked, held or skipped, exceptions in force, and RoleBindings
with an end. Reeve computes it from the objects themselves, so it needs no running Reeve, and lists more than a status.`,
  examples: [
    ['reeve report', 'everything on the cluster that is not as policies want it'],
    ['reeve report -n team-a', 'one namespace'],
    ['reeve report --group-by team', 'what each team has to mend'],
    ['reeve report --since 2h', 'what was created or changed in the last two hours, during an outage'],
    ['reeve report -o html > report.html', 'one page with a matrix of namespaces by policies'],
    ['reeve report -f policies/ -f cluster/', 'the same for files'],
    ['reeve report --write', 'one Report in each namespace, for tools that read openreports.io'],
  ],
  exitCodes: [
    [0, 'The report is complete, whatever it lists.'],
    [1, 'A Report could not be written, or there is no such namespace or policy.'],
    [2, 'Wrong flags.'],
    [3, 'The report is not complete: a kind or a file could not be read, or the cluster did not answer.'],
  ],
});

function checkedReport({ write, output, ...settings }: ReportFlags): readonly string[] {
  const { filename, state, namespace, allNamespaces, groupBy, since } = settings;
  const named = namedProviders(settings);
  const problems = [
    ...stateProblems(settings),
    ...(allNamespaces && namespace.length > 0 ? ['-A and -n exclude each other'] : []),
    ...(groupBy === 'cause' || output === 'text' ? [] : ['--group-by divides only the tables of -o text']),
    ...named.flatMap((read) => (read.ok ? [] : [read.problem])),
  ];
  if (!write) return problems;
  // A Report that is left out would be deleted.
  const isWhole = namespace.length + named.length === 0 && since === undefined;
  return [
    ...problems,
    ...(isWhole
      ? []
      : ['--write writes all Reports: leave out -n, --policy, --share, --binding and --since']),
    ...(filename.length === 0 ? [] : ['--write goes without -f']),
    ...(state.length === 0 ? [] : ['--write goes without --state']),
    ...(output === 'text' ? [] : ['--write goes without -o']),
  ];
}

/** Returns the exit code. */
async function runReport(
  { settings, environment }: Call<ReportFlags>,
  io: CommandIo<ReportOutput>,
): Promise<number> {
  return await withState(settings, environment, { needs }, io, async (state, connection) => {
    const now = io.clock.now();
    const { cluster, planning } = planningState(state, now);
    const whole = await collectReport({
      state,
      cluster,
      planning,
      existing: [
        ['roles', state.objects(roleType)],
        ['rolebindings', state.objects(roleBindingType)],
        ...(settings.secrets ? await secretsOf(state, connection) : []),
      ],
      now,
    });
    const { policies } = cluster.snapshot().policies;
    if (!settings.secrets && policies.some((policy) => hasAuditableRules(policy, 'secrets')))
      io.stderr('existing Secrets were not judged; --secrets judges them\n');
    const missing = missingIn(whole, settings, { state, cluster });
    for (const problem of missing) io.stderr(`${problem}\n`);
    const complete = codeOf(whole, missing);
    if (missing.length > 0) return complete;
    const { address: origin = whole.origin } = connection ?? {};
    const report = narrowedReport({ ...whole, origin }, scopeOf(settings, now));
    if (!settings.write || connection === undefined) {
      io.print(report);
      return complete;
    }
    const { writeReports } = await import('./report-writer.ts');
    const isWritten = await writeReports(openReports(report), connection, io.stderr);
    return isWritten ? complete : exitCodes.no;
  });
}

/** Reads a cluster's Secrets page by page, and keeps none. */
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

function scopeOf(settings: ReportFlags, now: Date): ReportScope {
  const { namespace, since = '' } = settings;
  const duration = parseGoDuration(since);
  return {
    namespaces: new Set(namespace),
    policies: new Set(namedProviders(settings).flatMap((read) => (read.ok ? [read.id] : []))),
    since: since === '' ? undefined : new Date(duration === undefined ? since : now.getTime() - duration),
  };
}

/** Finds misspelled names, which would look like namespaces or policies in order. */
function missingIn(
  { policies }: ReportOutput,
  settings: ReportFlags,
  loaded: LoadedState,
): readonly string[] {
  const wrong = namedProviders(settings).flatMap((read) =>
    read.ok && !policies.includes(read.id) ? [`there is no ${read.id}${meant(read.id, policies)}`] : [],
  );
  return [...wrong, ...settings.namespace.flatMap((name) => unmanagedText(name, loaded) ?? [])];
}

function meant(name: string, known: readonly string[]): string {
  const near = nearestWord(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
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
