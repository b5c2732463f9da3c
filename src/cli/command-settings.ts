// Defines the flags of `reeve up`, `reeve serve` and `reeve uninstall`.
import { logLevels } from '../observe/log.ts';
import { shippedFolder } from '../app/shipped-files.ts';
import {
  file,
  folder,
  hostSetting,
  installSettings,
  processSettings,
  webhookSettings,
  durationPlaceholder,
  parsePositiveDuration,
} from './common-settings.ts';
import {
  choiceSetting,
  integerSetting,
  optionalText,
  switchSetting,
  textSetting,
  requiredText,
  durationSetting,
} from './setting-kinds.ts';
import type { Setting, Settings, Values } from './settings.ts';

const port = { placeholder: 'PORT' };

export const upSettings = {
  policies: policiesSetting(),
  apiPort: integerSetting(0, 0, 65_535, {
    ...port,
    help: 'Where the API of the sandbox is; 0 takes any free port.',
  }),
  port: integerSetting(0, 0, 65_535, { ...port, help: 'Where reviews are answered; 0 takes any free port.' }),
  probesPort: integerSetting(0, 0, 65_535, {
    ...port,
    help: 'Where /livez, /readyz and /metrics are; 0 takes any.',
  }),
  demo: switchSetting('Play a demo, check that each scene goes as described, and exit.'),
  step: switchSetting('With --demo: wait for Enter before the next scene.'),
  quiet: switchSetting('Print how to begin, but not the feed of events.'),
  json: switchSetting('Print everything as lines of JSON, for programs.'),
  logLevel: choiceSetting('error', logLevels, {
    placeholder: 'LEVEL',
    help: 'How much goes to standard error.',
  }),
} satisfies Settings;

export type UpFlags = Values<typeof upSettings>;

/** The default lies in the package, wherever that is; what people read names it from the root of the repository. */
function policiesSetting(): Setting<string> {
  const setting = textSetting('', {
    ...folder,
    help: 'The objects that the sandbox starts with: a YAML file, or a folder of YAML files. One invalid object prevents the start.',
  });
  const value = shippedFolder('samples/first-steps');
  return { ...setting, fallback: { value, shown: 'manifests/samples/first-steps' } };
}

export const serveSettings = {
  policies: requiredText({
    ...folder,
    help: 'The policies and shares to serve: a YAML file, or a folder of them.',
  }),
  clusterState: optionalText({ ...folder, help: 'Namespaces as YAML, in place of a cluster.' }),
  host: hostSetting('127.0.0.1'),
  ...webhookSettings,
  ...installSettings,
  ...processSettings,
} satisfies Settings;

export type ServeFlags = Values<typeof serveSettings>;

const anHourMs = 3_600_000;

export const uninstallSettings = {
  kubeconfig: optionalText({
    ...file,
    help: 'How to reach the cluster, as an administrator. Without it: as kubectl does.',
  }),
  namespace: installSettings.namespace,
  sharedNamespace: {
    ...installSettings.sharedNamespace,
    help: 'A namespace of Secrets that may be shared. May be given several times.',
  },
  keepContents: switchSetting(
    'Keep all that policies and shares provide where it is: it loses the mark, and is yours.',
  ),
  deleteShared: switchSetting(
    'Delete the namespaces of --shared-namespace too, with all Secrets in them, if the install made them.',
  ),
  yes: switchSetting('Do not ask.'),
  timeout: durationSetting('2m', anHourMs, parsePositiveDuration, {
    ...durationPlaceholder,
    help: 'How long each step waits for what is being deleted.',
    accepted: 'a duration such as 2m, more than 0 and up to 1h',
  }),
} satisfies Settings;

export type UninstallFlags = Values<typeof uninstallSettings>;

export const uninstallDetails = `It says what will become of which objects, asks, and then goes in this order:
the webhook configurations, so that nobody waits for an answer any more; the Deployments and the rights of
Reeve's accounts; the guard; what policies and shares provide; the policies and shares; their kinds; the rest.

What is provided is deleted, whatever maxDeletions says: your answer confirms the number. It stays, without the
mark, where deletionPolicy is Orphan, where the owner is suspended or does not load, and with --keep-contents.

It does not need Reeve to run, and does the same whether it runs or not. That is why the guard goes before the
objects: after that, and until they are gone, anybody with the rights in a namespace can write them.
Interrupted, it can be run again; nothing waits for anything meanwhile. At the end it says what is left.`;
