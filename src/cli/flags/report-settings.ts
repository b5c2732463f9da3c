// Defines the flags of `reeve report`.
import { filesSetting, outputSetting, pathArguments } from './common-settings.ts';
import { clusterSettings, installOverrides } from './state-settings.ts';
import { switchSetting } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';

export const reportSettings = {
  filename: filesSetting(
    'Report on the objects of this file or folder; - is standard input. May be given several times. With a cluster: in place of its objects of the same names.',
  ),
  ...clusterSettings,
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
    ['reeve report -o html > report.html', 'one page with a matrix of namespaces by policies'],
    ['reeve report -f policies/ -f cluster/', 'the same for files'],
    ['reeve report --write', 'one Report in each namespace, for tools that read openreports.io'],
  ],
  exitCodes: [
    [0, 'The report is complete, whatever it lists.'],
    [1, 'A Report could not be written.'],
    [2, 'Wrong flags.'],
    [3, 'The report is not complete: a kind or a file could not be read, or the cluster did not answer.'],
  ],
});

function checkedReport({ write, filename, output }: ReportFlags): readonly string[] {
  if (!write) return [];
  return [
    ...(filename.length === 0 ? [] : ['--write goes without -f']),
    ...(output === 'text' ? [] : ['--write goes without -o']),
  ];
}
