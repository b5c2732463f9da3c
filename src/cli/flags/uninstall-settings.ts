// Defines the flags of `reeve uninstall`.
import { durationPlaceholder, file, installSettings, parsePositiveDuration } from './common-settings.ts';
import { durationSetting, optionalText, switchSetting } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';

const anHourMs = 3_600_000;

export const uninstallSettings = {
  kubeconfig: optionalText({
    ...file,
    help: 'The kubeconfig of an administrator. Without it, the cluster is found as kubectl finds it.',
  }),
  installNamespace: installSettings.namespace,
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

const details = `The command prints which objects it will delete or keep, asks for confirmation, and then deletes in this order:
the webhook configurations, so that no request waits for an answer; the Deployments and the rights of Reeve's
accounts; the guard; the objects that policies, shares and bindings provide; these themselves; their kinds; the rest.

Provided objects are deleted, even if there are more than maxDeletions: your answer confirms the number. They stay,
without the label and annotation of Reeve, if deletionPolicy is Orphan, if their policy, share or binding is suspended or
invalid, or with --keep-contents.

Reeve does not need to run. The guard is deleted before the objects, so until the objects are deleted, any user with
rights in a namespace can change them. After an interruption, run the command again. At the end it prints what is left.`;

export const uninstallForm = commandForm({
  settings: uninstallSettings,
  details,
  exitCodes: [
    [0, 'Nothing of Reeve is left.'],
    [1, 'Something is left.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'The cluster could not be reached.'],
  ],
});
