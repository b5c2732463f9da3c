// The flags of `reeve up`.
import { logLevels } from '../observe/log.ts';
import { shippedFolder } from '../app/shipped-files.ts';
import { file, folder } from './common-settings.ts';
import { choice, integer, optionalText, switchSetting, textSetting } from './setting-kinds.ts';
import type { Setting, Settings, Values } from './settings.ts';

const port = { placeholder: 'PORT' };

export const upSettings = {
  kubeconfig: optionalText({
    ...file,
    help: 'Work on this cluster instead of the sandbox: its reconciler runs here, and the feed tells what it does.',
  }),
  policies: policiesSetting(),
  apiPort: integer(0, 0, 65_535, {
    ...port,
    help: 'Where the API of the sandbox is; 0 takes any free port.',
  }),
  port: integer(0, 0, 65_535, { ...port, help: 'Where reviews are answered; 0 takes any free port.' }),
  probesPort: integer(0, 0, 65_535, {
    ...port,
    help: 'Where /livez, /readyz and /metrics are; 0 takes any.',
  }),
  demo: switchSetting('Play a tour, say whether all came out as it should, and end.'),
  quiet: switchSetting('Tell how to begin, and nothing of what happens.'),
  json: switchSetting('Tell everything as one line of JSON each, for programs.'),
  logLevel: choice('error', logLevels, { placeholder: 'LEVEL', help: 'How much goes to standard error.' }),
} satisfies Settings;

export type UpSettings = Values<typeof upSettings>;

/** The default lies in the package, wherever that is; what people read names it from the root of the repository. */
function policiesSetting(): Setting<string> {
  const setting = textSetting('', {
    ...folder,
    help: 'What the sandbox begins with: a YAML file of objects, or a folder of them.',
  });
  const value = shippedFolder('samples/first-steps');
  return { ...setting, fallback: { value, shown: 'manifests/samples/first-steps' } };
}
