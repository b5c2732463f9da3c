// Defines the flags of `reeve check`.
import { parseGoDuration } from '../../base/time.ts';
import { durationPlaceholder, filesSetting, installSettings, outputSetting } from './common-settings.ts';
import { clusterSettings, installOverrides } from './state-settings.ts';
import { durationSetting, switchSetting } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';

const anHourMs = 3_600_000;

export const checkSettings = {
  filename: filesSetting(
    'Check this file or folder in place of an install; - is standard input. May be given several times.',
  ),
  ...clusterSettings,
  namespace: installSettings.namespace,
  wait: durationSetting('0s', anHourMs, parseGoDuration, {
    ...durationPlaceholder,
    help: 'How long to look again until everything works.',
    accepted: 'a duration such as 2m, up to 1h',
  }),
  strict: { ...switchSetting('With -f: exit with 1 also for warnings.'), hasVariable: false },
  ...installOverrides,
  output: outputSetting(
    ['text', 'json', 'github'],
    'Lines for people, JSON for programs, or annotations of a pull request on GitHub.',
  ),
} satisfies Settings;

export type CheckFlags = Values<typeof checkSettings>;

export const checkForm = commandForm({
  settings: checkSettings,
  check: checkedCheck,
  examples: [
    ['reeve check', 'what of an install does not work'],
    ['reeve check -f policies/', 'what is wrong with these files'],
    ['reeve check -f policies/ --context prod', 'the same, with the namespaces of that cluster'],
    ['cat team.yaml | reeve check -f -', 'standard input'],
  ],
  exitCodes: [
    [0, 'No problem was found.'],
    [1, 'A problem was found, or with --strict a warning. Or the tool could not look.'],
    [2, 'Wrong flags.'],
  ],
});

function checkedCheck({ filename, strict, output, wait }: CheckFlags): readonly string[] {
  if (filename.length > 0) return wait > 0 ? ['--wait goes without -f'] : [];
  return [
    ...(strict ? ['--strict goes with -f'] : []),
    ...(output === 'github' ? ['-o github goes with -f'] : []),
  ];
}
