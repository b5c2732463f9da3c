// The command `reeve grant`: prints the objects that let users steer, or enter a namespace for a while, and creates them with --apply.
import { kinds } from '../../api/kinds.ts';
import { isNamespaceName, isSubdomain } from '../../base/kubernetes-names.ts';
import { cliFieldManager, readyCondition } from '../../schema/names.ts';
import { conditionOf } from '../../base/condition.ts';
import { parseDuration, rfc3339 } from '../../base/time.ts';
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
  durationSetting,
  optionalText,
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
import {
  accessBinding,
  accessProblems,
  hashOf,
  rbacSubjects,
  subjectKeys,
  type Subject,
} from './grant-access.ts';
import { refusalText } from './refusal-text.ts';

const outputs = {
  yaml: (objects: readonly KubeObject[]) => objects.map((each) => stringifyYaml(each)).join('---\n'),
  json: (objects: readonly KubeObject[]) => printableJson({ apiVersion: 'v1', kind: 'List', items: objects }),
};

const longestMs = 720 * 3_600_000;
const usualMs = 3_600_000;

/** Undefined when it is left out, because the right to use a policy has no end. */
function lifetimeSetting(): Setting<number | undefined> {
  const setting = durationSetting('1h', longestMs, parseDuration, {
    placeholder: 'DURATION',
    help: 'For access: how long it lasts.',
    accepted: 'a duration such as 4h or 30m, at most 720h',
  });
  return { ...setting, fallback: { value: undefined, shown: '1h' } };
}

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
  namespace: objectNamespace('For use: the namespace of a SecurityIntentBinding. For access: the namespace.'),
  role: withoutVariable(
    optionalText({
      placeholder: 'ROLE',
      help: 'For access: the role, as the name of a ClusterRole, or as Role/NAME.',
      accepted: 'the name of a ClusterRole, or Role/NAME',
    }),
  ),
  for: withoutVariable(lifetimeSetting()),
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
    placeholder: 'use KIND/NAME | access',
    help: 'What is granted: the use of a policy, share or binding (policy/team, share/regcred, binding/no-egress), or access to a namespace.',
    min: 1,
    max: 3,
  },
  details: `Users with the verb use on a policy, share or binding may decide which namespaces it matches, and what these get
from it. Every other user who changes such a label or annotation of a Namespace is refused.

access makes a RoleBinding in one namespace, which Reeve deletes when its time is over. It is yours as any RoleBinding that you create: you need
the rights that it gives, and the rules of policies on RoleBindings apply to it. The same grant once more moves its end.

Without --apply the command reads no cluster: it prints the objects for kubectl apply, or for Git.`,
  check: checkedGrant,
  examples: [
    [
      'reeve grant use policy/team --group red | kubectl apply -f -',
      'members of red may bring namespaces under the policy',
    ],
    ['reeve grant use share/regcred --user alice --apply', 'create the objects, after a question'],
    ['reeve grant use binding/no-egress -n shop --service-account ci/deployer', 'a binding of a namespace'],
    [
      'reeve grant access --role edit --user alice -n shop --for 4h --apply',
      'alice may edit shop for four hours',
    ],
  ],
  exitCodes: [
    [0, 'The objects were printed, or created.'],
    [1, 'The cluster refused the objects.'],
    [2, 'Wrong flags, or not confirmed.'],
    [3, 'The cluster could not be reached.'],
  ],
});

function checkedGrant(settings: GrantFlags, [verb = '', ...words]: readonly string[]): readonly string[] {
  const { group, user, serviceAccount } = settings;
  return [
    ...problemsOf(verb, words, settings),
    ...(group.length + user.length + serviceAccount.length > 0
      ? []
      : ['--group, --user or --service-account is missing']),
  ];
}

function problemsOf(verb: string, words: readonly string[], settings: GrantFlags): readonly string[] {
  if (verb === 'access') return accessProblems(settings, words);
  if (verb !== 'use') return [`${JSON.stringify(verb)} is not valid; accepted: use, access`];
  const { namespace, role } = settings;
  const read = providerNamed(words.join('/'), namespace);
  return [
    ...(read.ok ? [] : [read.problem]),
    ...(read.ok && namespace !== undefined && namespaceOfProvider(read.id) === undefined
      ? [`${read.id} is in no namespace: leave out -n`]
      : []),
    ...(role === undefined ? [] : ['--role is for access: leave it out']),
    ...(settings.for === undefined ? [] : ['--for is for access: leave it out']),
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
  { settings, positionals: [verb, ...words], environment }: Call<GrantFlags>,
  io: CommandIo<readonly KubeObject[]>,
): Promise<number> {
  const subjects = subjectsIn(settings);
  const granted =
    verb === 'access' ? accessIn(settings, subjects, io.clock.now()) : useIn(words, settings, subjects);
  const everybody = subjects.filter((each) => groupsOfAll.has(each.name));
  for (const each of subjects) io.stderr(`${shownSubject(each)} ${granted.effect}\n`);
  for (const each of everybody)
    io.stderr(`${shownSubject(each)} stands for ${groupsOfAll.get(each.name) ?? ''}\n`);
  if (everybody.length > 0 && !settings.yes) {
    io.stderr('nothing was granted (--yes grants it to all of them)\n');
    return notConfirmed;
  }
  io.print(granted.objects);
  if (!settings.apply) return 0;
  const { onCluster } = await import('../input/on-cluster.ts');
  return await onCluster(settings, environment, io.stderr, (connection) =>
    grant(granted, connection, { ...io, yes: settings.yes }),
  );
}

/** What the command grants. */
interface Granted {
  readonly objects: readonly KubeObject[];
  /** What a subject may do then, as the rest of a sentence. */
  readonly effect: string;
  /** Returns why the grant would have no effect now, or would not end. */
  readonly problem: (writer: ClusterConnection['writer']) => Promise<GrantProblem | undefined>;
}

interface GrantProblem {
  readonly message: string;
  /** True if nothing may be created. */
  readonly isFinal: boolean;
}

function useIn(words: readonly string[], { namespace }: GrantFlags, subjects: readonly Subject[]): Granted {
  const read = providerNamed(words.join('/'), namespace);
  if (!read.ok) throw new Error('the command line has checked the name');
  const { id } = read;
  return {
    objects: grantOf(id, subjects),
    effect: `may decide which namespaces ${id} matches`,
    problem: async (writer) =>
      (await isKnown(id, writer)) ? undefined : { message: `${id} does not exist now`, isFinal: false },
  };
}

function accessIn(
  { role = '', namespace = '', for: durationMs = usualMs }: GrantFlags,
  subjects: readonly Subject[],
  now: Date,
): Granted {
  const end = new Date(Math.ceil((now.getTime() + durationMs) / 1000) * 1000);
  return {
    objects: [accessBinding(role, namespace, subjects, end)],
    effect: `gets ${role} in namespace ${namespace} until ${rfc3339(end)}`,
    problem: async (writer) => {
      const found = await writer.read({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
      if (found === undefined) return { message: `there is no namespace ${namespace}`, isFinal: true };
      if (conditionOf(found['status'], readyCondition) !== undefined) return undefined;
      const message = `Reeve does not manage namespace ${namespace}, so it would not end the access`;
      return { message, isFinal: true };
    },
  };
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

/**
 * The right to a SecurityIntentBinding is a right in its namespace. The same subjects get the same binding. Other subjects get
 * another binding, so that a second grant removes nothing.
 */
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
      metadata: { name: `${name}-${hashOf(subjectKeys(subjects))}`, ...place },
      roleRef: { apiGroup, ...ref },
      subjects: rbacSubjects(subjects),
    },
  ];
}

async function grant(
  { objects, problem }: Granted,
  { writer, description }: ClusterConnection,
  io: AgreementIo & { readonly yes: boolean },
): Promise<number> {
  const found = await problem(writer);
  if (found !== undefined) io.stderr(`${found.message}\n`);
  if (found?.isFinal === true) return 1;
  const what = objects.length === 1 ? 'The object' : 'The two objects';
  io.stderr(`${what} above will be created on ${description}.\n`);
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
