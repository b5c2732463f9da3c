// The flags of `reeve uninstall`.
import { duration, file, installSettings, parsePositiveDuration } from './common-settings.ts';
import { durationSetting, optionalText, switchSetting } from './setting-kinds.ts';
import type { Settings, Values } from './settings.ts';

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
    ...duration,
    help: 'How long each step waits for what is being deleted.',
    accepted: 'a duration such as 2m, more than 0 and up to 1h',
  }),
} satisfies Settings;

export type UninstallSettings = Values<typeof uninstallSettings>;

export const uninstallDetails = `It says what will become of which objects, asks, and then goes in this order:
the webhook configurations, so that nobody waits for an answer any more; the Deployments and the rights of
Reeve's accounts; the guard; what policies and shares provide; the policies and shares; their kinds; the rest.

What is provided is deleted, whatever maxDeletions says: your answer confirms the number. It stays, without the
mark, where deletionPolicy is Orphan, where the owner is suspended or does not load, and with --keep-contents.

It does not need Reeve to run, and does the same whether it runs or not. That is why the guard goes before the
objects: after that, and until they are gone, anybody with the rights in a namespace can write them.
Interrupted, it can be run again; nothing waits for anything meanwhile. At the end it says what is left.`;
