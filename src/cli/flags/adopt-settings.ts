// Defines the flags of `reeve adopt`.
import { isNamespaceName } from '../../api/kubernetes-names.ts';
import { providerNamed, type ReadProviderName } from '../../inspect/input/object-names.ts';
import { namespaceNames } from './common-settings.ts';
import { listSetting, optionalText, switchSetting, withoutVariable } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';
import { askingSettings } from './state-settings.ts';

const provider = (help: string) =>
  withoutVariable(optionalText({ placeholder: 'NAME', help, accepted: 'a name' }));

export const adoptSettings = {
  policy: provider('The policy that is to take the objects over.'),
  share: provider('The share that is to take the objects over.'),
  binding: provider('The binding of intents: NAME, or NAMESPACE/NAME for a SecurityIntentBinding.'),
  namespace: {
    ...withoutVariable(
      listSetting(isNamespaceName, {
        ...namespaceNames,
        help: 'Only objects in this namespace. May be given several times.',
      }),
    ),
    short: 'n',
  },
  dryRun: withoutVariable(switchSetting('Show the objects, and mark none.')),
  all: withoutVariable(switchSetting('Show each namespace by itself, also where the changes are the same.')),
  ...askingSettings,
} satisfies Settings;

export type AdoptFlags = Values<typeof adoptSettings>;

/** Returns undefined unless exactly one of the three flags is given. */
export function adopter({ policy, share, binding }: AdoptFlags): ReadProviderName | undefined {
  const named = Object.entries({ policy, share, binding }).flatMap(([kind, name]) =>
    name === undefined ? [] : [`${kind}/${name}`],
  );
  const [text] = named;
  return text === undefined || named.length > 1 ? undefined : providerNamed(text, undefined);
}

export const adoptForm = commandForm({
  settings: adoptSettings,
  details: `Where an object of the same name exists, a policy or share reports a conflict and leaves the object alone. This command
shows these objects with what Reeve would change in them, and gives them the label reeve.dev/adopt=true, which hands
them over. Objects with finalizers or with a controller as owner are never taken over.

Reeve does not delete adopted objects later: it gives them back.`,
  check: (flags) => {
    const read = adopter(flags);
    if (read === undefined) return ['give one of --policy, --share and --binding'];
    return read.ok ? [] : [read.problem];
  },
  examples: [
    ['reeve adopt --policy team-namespaces --dry-run', 'what the policy would take over'],
    ['reeve adopt --policy team-namespaces -n team-a -n team-b', 'in two namespaces'],
    ['reeve adopt --share regcred --yes', 'without a question'],
  ],
  exitCodes: [
    [0, 'All objects that are in the way were marked, or there are none.'],
    [1, 'Some cannot be adopted or were not marked, or there is no such policy or share.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'A kind could not be read, or the cluster did not answer.'],
  ],
});
