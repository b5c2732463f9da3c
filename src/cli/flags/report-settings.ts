// Defines the flags of `reeve report`.
import type { Grouping } from '../../inspect/report/report-text.ts';
import { isDateTime, parseGoDuration } from '../../base/time.ts';
import {
  filesSetting,
  labelKeyAccepted,
  outputSetting,
  parseLabelKey,
  pathArguments,
} from './common-settings.ts';
import {
  clusterSettings,
  installOverrides,
  namedProviders,
  namespacesSetting,
  providerSettings,
} from './state-settings.ts';
import { choiceSetting, optionalText, switchSetting, withoutVariable } from './setting-kinds.ts';
import { commandForm, type Setting, type Settings, type Values } from './settings.ts';

export const reportSettings = {
  filename: filesSetting(
    'Report on the objects of this file or folder; - is standard input. May be given several times. With a cluster: in place of its objects of the same names.',
  ),
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
    ['text', 'json', 'yaml', 'csv', 'html', 'openreports'],
    'Tables for people, JSON, YAML or CSV for programs, one page for a browser, or a List of the Reports of openreports.io.',
  ),
  secrets: {
    ...switchSetting(
      'Also judge existing Secrets by the rules of policies. On a cluster, this reads all Secrets, page by page.',
    ),
    hasVariable: false,
  },
  write: {
    ...switchSetting(
      'Write the Report of each namespace to the cluster in place of printing. Needs the kind Report of openreports.io, and the rights to list, create, patch and delete it.',
    ),
    hasVariable: false,
  },
  ...installOverrides,
} satisfies Settings;

export type ReportFlags = Values<typeof reportSettings>;

export const reportForm = commandForm({
  settings: reportSettings,
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

function checkedReport({ write, filename, output, ...flags }: ReportFlags): readonly string[] {
  const { namespace, allNamespaces, groupBy, since } = flags;
  const named = namedProviders(flags);
  const problems = [
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
    ...(output === 'text' ? [] : ['--write goes without -o']),
  ];
}
