// Defines the flags of `reeve up`, `reeve serve`, `reeve certs`, `reeve check` and `reeve uninstall`.
import { maxLifetimeDays } from '../certs/issue/issue.ts';
import { parseGoDuration } from '../base/time.ts';
import { logLevels } from '../observe/log-level.ts';
import { shippedFolder } from '../app/shipped-files.ts';
import { runSettings } from './run-settings.ts';
import {
  file,
  fileOrFolder,
  folder,
  hostSetting,
  installNamespace,
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

export const serveSettings = {
  policies: requiredText({
    ...fileOrFolder,
    help: 'The policies, shares, intents and bindings to serve: a YAML file, or a folder of them.',
  }),
  clusterState: optionalText({ ...fileOrFolder, help: 'Namespaces as YAML, in place of a cluster.' }),
  host: hostSetting('127.0.0.1'),
  ...webhookSettings,
  ...installSettings,
  ...processSettings,
} satisfies Settings;

export type ServeFlags = Values<typeof serveSettings>;

export const certsDefaults = { namespace: 'reeve-system', force: false, caDays: 3650, days: 365 } as const;

export const certsSettings = {
  out: requiredText({ ...folder, help: 'The folder for ca.crt, ca.key, tls.crt and tls.key.' }),
  namespace: installNamespace(certsDefaults.namespace),
  force: switchSetting('Replace existing files.'),
  caDays: integerSetting(certsDefaults.caDays, 1, maxLifetimeDays, {
    placeholder: 'DAYS',
    help: 'How long the authority is valid.',
  }),
  days: integerSetting(certsDefaults.days, 1, maxLifetimeDays, {
    placeholder: 'DAYS',
    help: 'How long the serving certificate is valid.',
  }),
} satisfies Settings;

export type CertsFlags = Values<typeof certsSettings>;

const anHourMs = 3_600_000;

export const uninstallSettings = {
  kubeconfig: optionalText({
    ...file,
    help: 'The kubeconfig of an administrator. Without it, the cluster is found as kubectl finds it.',
  }),
  namespace: installSettings.namespace,
  sharedNamespace: {
    ...installSettings.sharedNamespace,
    help: 'A namespace with Secrets to share. May be given several times.',
  },
  keepContents: switchSetting(
    'Keep all objects that policies, shares and bindings provide. They lose the label and annotation of Reeve.',
  ),
  deleteShared: switchSetting(
    'Also delete the namespaces of --shared-namespace with all Secrets in them, if the installation created them.',
  ),
  onlyWebhooks: switchSetting(
    'Delete only the webhook configurations, so that nothing waits for a webhook while another program deletes Reeve. Needs rights to these objects alone.',
  ),
  yes: switchSetting('Do not ask for confirmation.'),
  timeout: durationSetting('2m', anHourMs, parsePositiveDuration, {
    ...durationPlaceholder,
    help: 'How long each step waits for objects that are being deleted.',
    accepted: 'a duration such as 2m, more than 0 and up to 1h',
  }),
} satisfies Settings;

export type UninstallFlags = Values<typeof uninstallSettings>;

export const checkSettings = {
  kubeconfig: uninstallSettings.kubeconfig,
  namespace: installSettings.namespace,
  wait: durationSetting('0s', anHourMs, parseGoDuration, {
    ...durationPlaceholder,
    help: 'How long to look again until everything works.',
    accepted: 'a duration such as 2m, up to 1h',
  }),
  output: choiceSetting('text', ['text', 'json'], {
    placeholder: 'FORMAT',
    help: 'Lines for people, or JSON for programs. Short: -o.',
  }),
} satisfies Settings;

export type CheckFlags = Values<typeof checkSettings>;

export const uninstallDetails = `The command prints which objects it will delete or keep, asks for confirmation, and then deletes in this order:
the webhook configurations, so that no request waits for an answer; the Deployments and the rights of Reeve's
accounts; the guard; the objects that policies, shares and bindings provide; these themselves; their kinds; the rest.

Provided objects are deleted, even if there are more than maxDeletions: your answer confirms the number. They stay,
without the label and annotation of Reeve, if deletionPolicy is Orphan, if their policy, share or binding is suspended or
invalid, or with --keep-contents.

Reeve does not need to run. The guard is deleted before the objects, so until the objects are deleted, any user with
rights in a namespace can change them. After an interruption, run the command again. At the end it prints what is left.`;
