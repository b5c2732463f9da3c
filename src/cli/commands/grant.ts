// The command `reeve grant use`: prints the role and the binding that let users steer, and creates them with --apply.
import { createHash } from 'node:crypto';
import { kindDefinitions } from '../../api/crd.ts';
import { cliFieldManager } from '../../schema/names.ts';
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import { KubeError } from '../../base/kube-error.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { stringifyYaml } from '../../base/yaml.ts';
import { providerNamed } from '../../inspect/input/object-names.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import {
  groupOf,
  roleBindingType,
  kindOfProvider,
  nameOfProvider,
  namespaceOfProvider,
  providerRef,
  useOf,
  type ProviderId,
} from '../../policy/terms/provider-id.ts';
import type { GrantFlags } from '../flags/grant-settings.ts';
import { printableJson } from '../output/data-text.ts';
import { isAgreed, notConfirmed, type AgreementIo } from './agreement.ts';
import { refusalText } from './refusal-text.ts';

export interface GrantIo extends AgreementIo {
  readonly stdout: (text: string) => void;
}

export async function runGrant(
  flags: GrantFlags,
  [, ...words]: readonly string[],
  environment: ApiServerChoice['environment'],
  io: GrantIo,
): Promise<number> {
  const read = providerNamed(words.join('/'), flags.namespace);
  if (!read.ok) throw new Error('the command line has checked the name');
  const subjects = subjectsIn(flags);
  const everybody = subjects.filter((each) => groupsOfAll.has(each.name));
  for (const each of subjects)
    io.stderr(`${shownSubject(each)} may decide which namespaces ${read.id} matches\n`);
  for (const each of everybody)
    io.stderr(`${shownSubject(each)} stands for ${groupsOfAll.get(each.name) ?? ''}\n`);
  if (everybody.length > 0 && !flags.yes) {
    io.stderr('nothing was granted (--yes grants it to all of them)\n');
    return notConfirmed;
  }
  const objects = grantOf(read.id, subjects);
  io.stdout(writers[flags.output](objects));
  if (!flags.apply) return 0;
  const { onCluster } = await import('../input/on-cluster.ts');
  return await onCluster(flags, environment, io.stderr, (connection) =>
    grant(read.id, objects, connection, { ...io, yes: flags.yes }),
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
  const short = kindDefinitions.find(({ kind }) => kind === kindOfProvider(id))?.shortName ?? '';
  const name = `reeve-use-${short}-${nameOfProvider(id)}`;
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

/** The same subjects get the same binding, and other subjects another one, so that a second grant takes nothing away. */
function hashOf(subjects: readonly Subject[]): string {
  const names = subjects.map(({ kind, namespace, name }) => JSON.stringify([kind, namespace, name]));
  return createHash('sha256').update(names.toSorted().join()).digest('hex').slice(0, 8);
}

const writers = {
  yaml: (objects: readonly KubeObject[]) => objects.map((each) => stringifyYaml(each)).join('---\n'),
  json: (objects: readonly KubeObject[]) => printableJson({ apiVersion: 'v1', kind: 'List', items: objects }),
};

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

/** True if this account may not look. */
async function isKnown(id: ProviderId, writer: ClusterConnection['writer']): Promise<boolean> {
  try {
    return (await writer.read(providerRef(id))) !== undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === 403) return true;
    throw error;
  }
}
