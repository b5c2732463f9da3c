// The command `reeve grant use`: prints the role and the binding that let users steer, and creates them with --apply.
import { createHash } from 'node:crypto';
import { kinds } from '../../api/kinds.ts';
import { isNamespaceName, isSubdomain } from '../../base/kubernetes-names.ts';
import { cliFieldManager } from '../../schema/names.ts';
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { KubeError } from '../../base/kube-error.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { stringifyYaml } from '../../base/yaml.ts';
import { providerNamed } from '../../inspect/input/object-names.ts';
import { groupOf, roleBindingType } from '../../base/object-type.ts';
import {
  kindOfProvider,
  nameOfProvider,
  namespaceOfProvider,
  providerRef,
  useOf,
  type ProviderId,
} from '../../policy/terms/provider-id.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { outputSetting } from '../flags/common-settings.ts';
import {
  pathsSetting,
  switchSetting,
  withoutVariable,
  type Setting,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import { connectionSettings, objectNamespace } from '../flags/state-settings.ts';
import { printableJson } from '../output/data-text.ts';
import { isAgreed, notConfirmed, type AgreementIo } from './agreement.ts';
import { refusalText } from './refusal-text.ts';

const outputs = {
  yaml: (objects: readonly KubeObject[]) => objects.map((each) => stringifyYaml(each)).join('---\n'),
  json: (objects: readonly KubeObject[]) => printableJson({ apiVersion: 'v1', kind: 'List', items: objects }),
};

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

const flags = {
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
  output: outputSetting(outputs, 'How the objects are printed.'),
} satisfies Settings;

type GrantFlags = Values<typeof flags>;

export const command = commandOf({
  flags,
  outputs,
  run: runGrant,
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

async function runGrant(
  { settings, positionals: [, ...words], environment }: Call<GrantFlags>,
  io: CommandIo<readonly KubeObject[]>,
): Promise<number> {
  const read = providerNamed(words.join('/'), settings.namespace);
  if (!read.ok) throw new Error('the command line has checked the name');
  const subjects = subjectsIn(settings);
  const everybody = subjects.filter((each) => groupsOfAll.has(each.name));
  for (const each of subjects)
    io.stderr(`${shownSubject(each)} may decide which namespaces ${read.id} matches\n`);
  for (const each of everybody)
    io.stderr(`${shownSubject(each)} stands for ${groupsOfAll.get(each.name) ?? ''}\n`);
  if (everybody.length > 0 && !settings.yes) {
    io.stderr('nothing was granted (--yes grants it to all of them)\n');
    return notConfirmed;
  }
  const objects = grantOf(read.id, subjects);
  io.print(objects);
  if (!settings.apply) return 0;
  const { onCluster } = await import('../input/on-cluster.ts');
  return await onCluster(settings, environment, io.stderr, (connection) =>
    grant(read.id, objects, connection, { ...io, yes: settings.yes }),
  );
}

interface Subject {
  readonly kind: 'Group' | 'User' | 'ServiceAccount';
  readonly name: string;
  readonly namespace?: string;
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#authentication-strategies */
const groupsOfAll: ReadonlyMap<string, string> = new Map([
  ['system:authenticated', 'every user of the cluster'],
  ['system:unauthenticated', 'every caller without credentials'],
  ['system:anonymous', 'every caller without credentials'],
  ['system:serviceaccounts', 'every ServiceAccount, and so every Pod'],
]);

function subjectsIn({ group, user, serviceAccount }: GrantFlags): readonly Subject[] {
  return [
    ...[...new Set(group)].map((name) => ({ kind: 'Group', name }) as const),
    ...[...new Set(user)].map((name) => ({ kind: 'User', name }) as const),
    ...[...new Set(serviceAccount)].map((text) => {
      const [namespace = '', name = ''] = text.split('/');
      return { kind: 'ServiceAccount', name, namespace } as const;
    }),
  ];
}

function shownSubject({ kind, namespace, name }: Subject): string {
  return [kind, ...(namespace === undefined ? [] : [namespace]), clipped(name)].join('/');
}

/** The right to a SecurityIntentBinding is a right in its namespace. */
export function grantOf(id: ProviderId, subjects: readonly Subject[]): readonly KubeObject[] {
  const { verb, group, resource } = useOf(id);
  const { apiVersion } = roleBindingType;
  const name = `reeve-use-${kinds[kindOfProvider(id)].shortName}-${nameOfProvider(id)}`;
  const namespace = namespaceOfProvider(id);
  const place = namespace === undefined ? {} : { namespace };
  const prefix = namespace === undefined ? 'Cluster' : '';
  const apiGroup = groupOf(apiVersion);
  const ref = { kind: `${prefix}Role`, name };
  return [
    {
      apiVersion,
      kind: ref.kind,
      metadata: { name, ...place },
      rules: [
        { apiGroups: [group], resources: [resource], resourceNames: [nameOfProvider(id)], verbs: [verb] },
      ],
    },
    {
      apiVersion,
      kind: `${prefix}RoleBinding`,
      metadata: { name: `${name}-${hashOf(subjects)}`, ...place },
      roleRef: { apiGroup, ...ref },
      subjects: subjects.map((each) => (each.kind === 'ServiceAccount' ? each : { apiGroup, ...each })),
    },
  ];
}

/** The same subjects get the same binding. Other subjects get another binding, so that a second grant removes nothing. */
function hashOf(subjects: readonly Subject[]): string {
  const names = subjects.map(({ kind, namespace, name }) => JSON.stringify([kind, namespace, name]));
  return createHash('sha256').update(names.toSorted().join()).digest('hex').slice(0, 8);
}

async function grant(
  id: ProviderId,
  objects: readonly KubeObject[],
  { writer, description }: ClusterConnection,
  io: AgreementIo & { readonly yes: boolean },
): Promise<number> {
  const isThere = await isKnown(id, writer);
  if (!isThere) io.stderr(`${id} does not exist now\n`);
  io.stderr(`The two objects above will be created on ${description}.\n`);
  if (!(await isAgreed(io, { yes: io.yes, word: 'grant' }))) return notConfirmed;
  for (const object of objects) {
    const shown = `${object.kind ?? ''} ${nameOf(object)}`;
    try {
      await writer.apply(object, { force: false, manager: cliFieldManager });
      io.stderr(`created ${shown}\n`);
    } catch (error) {
      io.stderr(`${shown} was not created: ${refusalText(error)}\n`);
      return 1;
    }
  }
  return 0;
}

/** True also if this account may not look. */
async function isKnown(id: ProviderId, writer: ClusterConnection['writer']): Promise<boolean> {
  try {
    return (await writer.read(providerRef(id))) !== undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === 403) return true;
    throw error;
  }
}
