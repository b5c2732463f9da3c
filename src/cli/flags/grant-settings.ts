// Defines the flags of `reeve grant`.
import { isNamespaceName, isSubdomain } from '../../schema/kubernetes-names.ts';
import { providerNamed } from '../../inspect/input/object-names.ts';
import { namespaceOfProvider } from '../../policy/terms/provider-id.ts';
import { outputSetting } from './common-settings.ts';
import { pathsSetting, switchSetting, withoutVariable } from './setting-kinds.ts';
import { commandForm, type Setting, type Settings, type Values } from './settings.ts';
import { connectionSettings, objectNamespace } from './state-settings.ts';

/** Names of groups may contain commas, so each is given by a flag of its own. */
function subjectSetting(
  placeholder: string,
  help: string,
  isName: (text: string) => boolean,
  accepted: string,
): Setting<readonly string[]> {
  const setting = pathsSetting({ placeholder, help: `${help} May be given several times.`, accepted });
  const parse: typeof setting.parse = (texts) =>
    texts.every(isName) ? { ok: true, value: texts } : { ok: false };
  return { ...setting, parse };
}

export const grantSettings = {
  group: subjectSetting(
    'GROUP',
    'A group whose members get the right.',
    isSubjectName,
    'the name of a group',
  ),
  user: subjectSetting('USER', 'A user who gets the right.', isSubjectName, 'the name of a user'),
  serviceAccount: subjectSetting(
    'NAMESPACE/NAME',
    'A ServiceAccount that gets the right.',
    isAccountName,
    'the namespace and name of a ServiceAccount',
  ),
  namespace: objectNamespace('The namespace of a SecurityIntentBinding.'),
  apply: withoutVariable(switchSetting('Create the objects on the cluster, after a question.')),
  yes: withoutVariable(
    switchSetting('With --apply: do not ask for confirmation. Also grants to groups of all users.'),
  ),
  ...connectionSettings,
  output: outputSetting(['yaml', 'json'], 'How the objects are printed.'),
} satisfies Settings;

export type GrantFlags = Values<typeof grantSettings>;

export const grantForm = commandForm({
  settings: grantSettings,
  positionals: {
    placeholder: 'use KIND/NAME',
    help: 'The right, which is always use, and the policy, share or binding: policy/team, share/regcred, binding/no-egress.',
    min: 2,
    max: 3,
  },
  details: `Users with the verb use on a policy, share or binding may decide which namespaces it matches, and what these get
from it. Every other user who changes such a label or annotation of a Namespace is refused.

Without --apply the command reads no cluster: it prints the objects for kubectl apply, or for Git.`,
  check: checkedGrant,
  examples: [
    [
      'reeve grant use policy/team --group red | kubectl apply -f -',
      'members of red may bring namespaces under the policy',
    ],
    ['reeve grant use share/regcred --user alice --apply', 'create the objects, after a question'],
    ['reeve grant use binding/no-egress -n shop --service-account ci/deployer', 'a binding of a namespace'],
  ],
  exitCodes: [
    [0, 'The objects were printed, or created.'],
    [1, 'The cluster refused the objects.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'The cluster could not be reached.'],
  ],
});

function checkedGrant(
  { group, user, serviceAccount, namespace }: GrantFlags,
  [verb = '', ...words]: readonly string[],
): readonly string[] {
  const read = providerNamed(words.join('/'), namespace);
  return [
    ...(verb === 'use' ? [] : [`${JSON.stringify(verb)} is not valid; accepted: use`]),
    ...(read.ok ? [] : [read.problem]),
    ...(read.ok && namespace !== undefined && namespaceOfProvider(read.id) === undefined
      ? [`${read.id} is in no namespace: leave out -n`]
      : []),
    ...(group.length + user.length + serviceAccount.length > 0
      ? []
      : ['--group, --user or --service-account is missing']),
  ];
}

/** RBAC accepts any text. https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-subjects */
function isSubjectName(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text);
}

function isAccountName(text: string): boolean {
  const [namespace = '', name = '', ...rest] = text.split('/');
  return isNamespaceName(namespace) && isSubdomain(name) && rest.length === 0;
}
