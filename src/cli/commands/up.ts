// Runs Reeve on a sandbox in this process: the command `reeve up`. Its program is a file of its own, because the image has no
// sandbox.
import { shippedFolder } from '../../app/shipped-files.ts';
import { commandOf } from '../command.ts';
import { fileOrFolder, logLevels } from '../flags/common-settings.ts';
import { runSettings } from './run.ts';
import {
  choiceSetting,
  integerSetting,
  switchSetting,
  textSetting,
  type Setting,
  type Settings,
  type Values,
} from '../flags/settings.ts';

const port = { placeholder: 'PORT' };

export const upSettings = {
  policies: policiesSetting(),
  apiPort: integerSetting(0, 0, 65_535, {
    ...port,
    help: 'The port for the API of the sandbox; 0 selects any free port.',
  }),
  port: integerSetting(0, 0, 65_535, { ...port, help: 'The port for reviews; 0 selects any free port.' }),
  probesPort: integerSetting(0, 0, 65_535, {
    ...port,
    help: 'The port for /livez, /readyz and /metrics; 0 selects any free port.',
  }),
  auditSecrets: switchSetting(
    'Judge existing Secrets by the rules of policies, page by page, every ten minutes.',
  ),
  resourceKind: {
    ...runSettings.resourceKind,
    help: 'A kind that policies may provide as contents.resources. May be given several times, and replaces the default list. The sandbox also has batch/v1/Job.',
  },
  variable: runSettings.variable,
  enforcedKey: runSettings.enforcedKey,
  demo: switchSetting('Play a demo, check that each scene goes as described, and exit.'),
  step: switchSetting('With --demo: wait for Enter before the next scene.'),
  quiet: switchSetting('Print how to begin, but not the feed of events.'),
  json: switchSetting('Print everything as lines of JSON, for programs.'),
  logLevel: choiceSetting('error', logLevels, {
    placeholder: 'LEVEL',
    help: 'The lowest level that is logged to standard error.',
  }),
} satisfies Settings;

export type UpFlags = Values<typeof upSettings>;

/** The default is a folder of the package. The help shows its path from the root of the repository. */
function policiesSetting(): Setting<string> {
  const setting = textSetting('', {
    ...fileOrFolder,
    help: 'The objects that the sandbox starts with: a YAML file, or a folder of YAML files. One invalid object prevents the start.',
  });
  const value = shippedFolder('samples/first-steps');
  return { ...setting, fallback: { value, shown: 'manifests/samples/first-steps' } };
}

export const command = commandOf({
  flags: upSettings,
  outputs: {},
  check: checkedUp,
  endsBySignal: true,
  run: async ({ settings }, io) => {
    const { runUp } = await import('../up.ts');
    return await runUp(settings, io);
  },
  examples: [
    ['reeve up', 'the policies of the first steps, on a sandbox in this process'],
    ['reeve up --demo', 'a tour of what Reeve does'],
  ],
});

function checkedUp({ demo, step, policies }: UpFlags): readonly string[] {
  if (!demo) return step ? ['--step goes with --demo'] : [];
  return policies === upSettings.policies.fallback?.value
    ? []
    : ['--demo uses policies of its own: leave out --policies'];
}
