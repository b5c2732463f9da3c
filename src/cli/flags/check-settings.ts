// Defines the flags of `reeve check`.
import { parseGoDuration } from '../../base/time.ts';
import { durationPlaceholder, filesSetting, outputSetting, pathArguments } from './common-settings.ts';
import { clusterSettings, connectionSettings, installOverrides } from './state-settings.ts';
import { durationSetting, switchSetting } from './setting-kinds.ts';
import { commandForm, flagName, type Settings, type Values } from './settings.ts';

const anHourMs = 3_600_000;
const { installNamespace, ...allowed } = installOverrides;
/** Flags that count only with -f. */
const forFiles = {
  cluster: clusterSettings.cluster,
  strict: { ...switchSetting('With -f: exit with 1 also for warnings.'), hasVariable: false },
  ...allowed,
} satisfies Settings;

export const checkSettings = {
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
    ['text', 'json', 'yaml', 'github'],
    'Lines for people, JSON or YAML for programs, or annotations of a pull request on GitHub.',
  ),
} satisfies Settings;

export type CheckFlags = Values<typeof checkSettings>;

export const checkForm = commandForm({
  settings: checkSettings,
  positionals: pathArguments,
  check: checkedCheck,
  examples: [
    ['reeve check', 'what of an install does not work'],
    ['reeve check policies/', 'what is wrong with these files'],
    ['reeve check -f policies/ --context prod', 'the same, with the namespaces and policies of that cluster'],
    ['cat team.yaml | reeve check -f -', 'standard input'],
  ],
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

function checkedCheck({ filename, wait, onlyWebhooks, output, ...flags }: CheckFlags): readonly string[] {
  if (filename.length > 0)
    return [
      ...(wait > 0 ? ['--wait goes without -f'] : []),
      ...(onlyWebhooks ? ['--only-webhooks goes without -f'] : []),
    ];
  const given = Object.entries(flags)
    .filter(([key, value]) => Object.hasOwn(forFiles, key) && value !== undefined && value !== false)
    .map(([key]) => flagName(key));
  return [...given, ...(output === 'github' ? ['-o github'] : [])].map((flag) => `${flag} goes with -f`);
}
