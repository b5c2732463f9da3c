// Defines the flags of `reeve adopt`.
import { filesSetting } from './common-settings.ts';
import { switchSetting, withoutVariable } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';
import { askingSettings, namedProviders, namespacesSetting, providerSettings } from './state-settings.ts';

export const adoptSettings = {
  filename: filesSetting(
    'Adopt for the policies, shares and bindings of this file or folder, as if they were applied; - is standard input. May be given several times.',
  ),
  ...providerSettings('that is to take the objects over'),
  namespace: namespacesSetting('Only objects in this namespace.'),
  dryRun: withoutVariable(switchSetting('Show the objects, and mark none.')),
  all: withoutVariable(switchSetting('Show each namespace by itself, also where the changes are the same.')),
  ...askingSettings,
} satisfies Settings;

export type AdoptFlags = Values<typeof adoptSettings>;

export const adoptForm = commandForm({
  settings: adoptSettings,
  details: `Where an object of the same name exists, a policy or share reports a conflict and leaves the object alone. This command
shows these objects with what Reeve would change in them, and gives them the label reeve.dev/adopt=true, which hands
them over. Objects with finalizers or with a controller as owner are never taken over.

With -f, a policy or share of the files need not exist yet: it takes over what is marked as soon as it is applied.

Reeve does not delete adopted objects later: it gives them back.`,
  check: (flags) => {
    const named = namedProviders(flags);
    const isOne = named.length === 1 || (named.length === 0 && flags.filename.length > 0);
    if (!isOne) return ['give one of --policy, --share and --binding, or -f'];
    // Standard input has the files, and cannot have the answer.
    return [
      ...named.flatMap((read) => (read.ok ? [] : [read.problem])),
      ...(flags.filename.includes('-') && !flags.yes && !flags.dryRun
        ? ['-f - leaves no standard input for the question: add --yes or --dry-run']
        : []),
    ];
  },
  examples: [
    ['reeve adopt --policy team-namespaces --dry-run', 'what the policy would take over'],
    ['reeve adopt --policy team-namespaces -n team-a -n team-b', 'in two namespaces'],
    ['reeve adopt --share regcred --yes', 'without a question'],
    [
      'reeve adopt -f policies/ --dry-run',
      'for all policies and shares of these files, before they are applied',
    ],
  ],
  exitCodes: [
    [0, 'All objects that are in the way were marked, or there are none.'],
    [1, 'Some cannot be adopted or were not marked, or there is no such policy, share or namespace.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'A kind or a file could not be read, or the cluster did not answer.'],
  ],
});
