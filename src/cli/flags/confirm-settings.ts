// Defines the flags of `reeve confirm`.
import { providerNamed } from '../../inspect/input/object-names.ts';
import { switchSetting, withoutVariable } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';
import { askingSettings, objectNamespace } from './state-settings.ts';

export const confirmSettings = {
  namespace: objectNamespace('The namespace of a SecurityIntentBinding.'),
  forDeletion: withoutVariable(
    switchSetting(
      'Confirm what the deletion of the policy, share or binding would delete. Run this before kubectl delete.',
    ),
  ),
  all: withoutVariable(switchSetting('List all objects, not only twenty.')),
  ...askingSettings,
} satisfies Settings;

export type ConfirmFlags = Values<typeof confirmSettings>;

export const confirmForm = commandForm({
  settings: confirmSettings,
  positionals: {
    placeholder: 'KIND/NAME',
    help: 'The policy, share or binding: policy/team, share/regcred, binding/no-egress.',
    min: 1,
    max: 2,
  },
  details: `Reeve holds deletions back when one change would delete more objects than maxDeletions. This command lists the objects,
and sets the annotation reeve.dev/confirm-deletions to their number. Objects that join later are held again.

A change of the spec that the API server refuses cannot be confirmed here: set the annotation in the same write.`,
  check: ({ namespace }, words) => {
    const read = providerNamed(words.join('/'), namespace);
    return read.ok ? [] : [read.problem];
  },
  examples: [
    ['reeve confirm policy/team-namespaces', 'what the policy holds back, and a question'],
    ['reeve confirm share/regcred --for-deletion', 'before kubectl delete sshare regcred'],
  ],
  exitCodes: [
    [0, 'The number was confirmed, or nothing needs a confirmation.'],
    [1, 'There is no such object, or the cluster refused the annotation.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'The number is not known: a kind could not be read, or the cluster did not answer.'],
  ],
});
