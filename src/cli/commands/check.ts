// The command `reeve check`: prints what is wrong with files, or with an install. Loads the cluster client only if a cluster is named.
import { cliApiVersion } from '../../schema/names.ts';
import { parseGoDuration } from '../../base/time.ts';
import { findingsForGithub, findingsText } from '../../inspect/checks/check-text.ts';
import { checkDefinitions, inPlace } from '../../inspect/checks/file-checks.ts';
import { checkWrittenObjects } from '../../inspect/checks/written-objects.ts';
import type { ClusterState } from '../../inspect/input/cluster-state.ts';
import {
  kubeObjectsOf,
  stateOfFiles,
  readObjectFiles,
  type ObjectFiles,
} from '../../inspect/input/file-state.ts';
import { applied, definitionsIn, loadState } from '../../inspect/input/loaded-state.ts';
import type {
  CheckFinding,
  CheckResults,
  UncheckedObjects,
} from '../../inspect/output-schemas/check-results.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { durationPlaceholder, filesSetting, outputSetting, pathArguments } from '../flags/common-settings.ts';
import {
  durationSetting,
  switchSetting,
  withoutVariable,
  flagName,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import { clusterSettings, connectionSettings, installOverrides } from '../flags/state-settings.ts';
import { isOnCluster, sayUnread } from '../input/chosen-state.ts';
import { findInstall } from '../input/find-install.ts';
import { jsonText, yamlText } from '../output/data-text.ts';

const outputs = { text: findingsText, json: jsonText, yaml: yamlText, github: findingsForGithub };

const anHourMs = 3_600_000;
const { installNamespace, ...allowed } = installOverrides;
/** Flags that count only with -f. */
const forFiles = {
  cluster: clusterSettings.cluster,
  strict: withoutVariable(switchSetting('With -f: exit with 1 also for warnings.')),
  ...allowed,
} satisfies Settings;

const flags = {
  filename: filesSetting(
    'Check this file or folder in place of an install; - is standard input. May be given several times.',
  ),
  ...connectionSettings,
  installNamespace: {
    ...installNamespace,
    help: 'The namespace that Reeve is installed in. Default: reeve-system, and with -f that of its Deployments.',
  },
  wait: durationSetting('0s', anHourMs, parseGoDuration, {
    ...durationPlaceholder,
    help: 'How long to look again until everything works.',
    accepted: 'a duration such as 2m, up to 1h',
  }),
  onlyWebhooks: switchSetting(
    'Check only whether rules are enforced: the webhook configurations, and whether the API server reaches the webhook.',
  ),
  ...forFiles,
  output: outputSetting(
    outputs,
    'Lines for people, JSON or YAML for programs, or annotations of a pull request on GitHub.',
  ),
} satisfies Settings;

export type CheckFlags = Values<typeof flags>;

export const command = commandOf({
  flags,
  outputs,
  positionals: pathArguments,
  check: checkedCheck,
  examples: [
    ['reeve check', 'what of an install does not work'],
    ['reeve check policies/', 'what is wrong with these files'],
    ['reeve check -f policies/ --context prod', 'the same, with the namespaces and policies of that cluster'],
    ['cat team.yaml | reeve check -f -', 'standard input'],
  ],
  run: async (call, io) => {
    if (call.settings.filename.length > 0) return await checkFiles(call, io);
    const { runCheckInstall } = await import('./check-install.ts');
    return await runCheckInstall(call, io);
  },
  exitCodes: [
    [0, 'No problem was found.'],
    [1, 'A problem was found, or with --strict a warning.'],
    [2, 'Wrong flags.'],
    [
      3,
      'The command could not find out: no answer of the cluster, or files or kinds that could not be read. What could be checked is printed. A single Secret that could not be read counts only with --strict.',
    ],
  ],
});

function checkedCheck({ filename, wait, onlyWebhooks, output, ...settings }: CheckFlags): readonly string[] {
  if (filename.length > 0)
    return [
      ...(wait > 0 ? ['--wait goes without -f'] : []),
      ...(onlyWebhooks ? ['--only-webhooks goes without -f'] : []),
    ];
  const given = Object.entries(settings)
    .filter(([key, value]) => Object.hasOwn(forFiles, key) && value !== undefined && value !== false)
    .map(([key]) => flagName(key));
  return [...given, ...(output === 'github' ? ['-o github'] : [])].map((flag) => `${flag} goes with -f`);
}

async function checkFiles(
  { settings, environment }: Call<CheckFlags>,
  io: CommandIo<CheckResults>,
): Promise<number> {
  const read = await readObjectFiles(settings.filename, io);
  if (!isOnCluster(settings)) return await judged(settings, read, undefined, io);
  const { onCluster } = await import('../input/on-cluster.ts');
  return await onCluster(settings, environment, io.stderr, async (connection) => {
    const { readCluster } = await import('../input/cluster-input.ts');
    const needs = ['providers', 'namespaces', 'install', 'roles', 'sources', 'written'] as const;
    const added = kubeObjectsOf(read.located).objects;
    const base = await readCluster(connection, { needs, added }, settings, io.progress);
    return await judged(settings, read, base, io);
  });
}

async function judged(
  settings: CheckFlags,
  read: ObjectFiles,
  base: ClusterState | undefined,
  io: CommandIo<CheckResults>,
): Promise<number> {
  const { objects } = kubeObjectsOf(read.located);
  const withBase = base ?? stateOfFiles([], findInstall(objects, settings));
  const state = base === undefined ? stateOfFiles(objects, withBase.install) : applied(base, objects);
  const definitions = definitionsIn(read.located, withBase);
  const now = io.clock.now();
  const definitionFindings = checkDefinitions({
    providers: definitions.providers,
    partial: definitions.partial,
    // The schemas check our own kinds.
    problems: [...read.problems, ...definitions.problems],
    state,
    snapshot: loadState(state).snapshot(),
    now,
  });
  const written = await checkWrittenObjects({ located: definitions.rest, base: withBase, state, now });
  const findings = [...definitionFindings, ...written.findings].toSorted(inPlace);
  sayUnread(state.unread, io);
  const results = resultsOf(findings, written.unchecked, read, state.unread);
  io.print(results);
  if ((results.problems ?? 0) > 0 || (settings.strict && findings.length > 0)) return exitCodes.no;
  // An object such as "Secret a/b" that could not be read hides only warnings.
  const hides = state.unread.some(({ kind }) => settings.strict || !kind.includes(' '));
  return hides ? exitCodes.unknown : exitCodes.done;
}

function resultsOf(
  findings: readonly CheckFinding[],
  unchecked: readonly UncheckedObjects[],
  { files, located }: ObjectFiles,
  unread: ClusterState['unread'],
): CheckResults {
  const problems = findings.filter(({ severity }) => severity === 'problem').length;
  return {
    apiVersion: cliApiVersion,
    kind: 'CheckResults',
    files,
    documents: located.length,
    problems,
    warnings: findings.length - problems,
    findings,
    unchecked,
    unread,
  };
}
