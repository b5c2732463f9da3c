// Reads the state of a cluster: one list for each kind that a command needs.
import { kinds } from '../../api/kinds.ts';
import { decidingKinds } from '../../api/kinds.ts';
import { apiVersion, managedByLabel, managedByReeve } from '../../schema/names.ts';
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { ownMember } from '../../base/json.ts';
import { clusterRoleType, rbacTypes } from '../../inspect/input/access.ts';
import {
  clusterState,
  type ClusterState,
  type Need,
  type UnreadKind,
} from '../../inspect/input/cluster-state.ts';
import { namespaceType } from '../../inspect/input/loaded-state.ts';
import { unlessNotFound } from '../../base/kube-error.ts';
import { resourcePath } from '../../kube/http/https-client.ts';
import { readCollections, unreadReason, type ReadCollection, type ReadTarget } from '../../kube/read-once.ts';
import { watchedObject } from '../../kube/watch/watch-stream.ts';
import type { WatchTarget } from '../../kube/watch/watch-target.ts';
import { intentAdapters } from '../../policy/intents/adapters.ts';
import {
  roleBindingType,
  roleType,
  configMapType,
  secretObjectType,
  serviceAccountType,
  isSameObjectType,
  type ObjectType,
} from '../../base/object-type.ts';
import { writtenSources } from '../../policy/compile/load-provider.ts';
import { providerKindOf } from '../../policy/terms/provider-id.ts';
import { contentTypes, type Install } from '../../policy/terms/install.ts';
import { guessedPlural } from '../../base/text.ts';
import { propertyTypes } from '../../state/cluster-properties.ts';
import { noProgress } from '../output/progress.ts';
import { deploymentSelector, deploymentType, findInstall, type InstallOverrides } from './find-install.ts';

const concurrency = 8;
const aMinuteMs = 60_000;

export type WantedList = ObjectType & Omit<WatchTarget, 'path'>;

export interface WantedState {
  readonly needs: readonly Need[];
  /** Objects of files beside the state. The Secrets that their shares name are read as well. */
  readonly added?: readonly KubeObject[];
}

/** A kind that this account may not read becomes `unread`. Rejects with a KubeError if the API server does not answer. */
export async function readCluster(
  connection: ClusterConnection,
  { needs, added = [] }: WantedState,
  overrides: InstallOverrides,
  progress = noProgress,
): Promise<ClusterState> {
  // These lists come first, because the flags of the install say which kinds it provides.
  const install = await readLists(connection, [
    { ...deploymentType, labelSelector: deploymentSelector },
    ...propertyTypes,
  ]);
  const facts = findInstall(install.flatMap(objectsOfCollection), overrides);
  const lists = await readLists(connection, wantedLists(needs, facts), progress.read).finally(progress.end);
  const objects = lists.flatMap(objectsOfCollection);
  const unread: UnreadKind[] = [];
  const sources = needs.includes('sources')
    ? await readSources(connection, [...objects, ...added], unread)
    : [];
  const written = needs.includes('written') ? await readWritten(connection, added, unread) : [];
  const all = [...install, ...lists];
  const absent = new Set(
    all.filter(({ outcome }) => outcome === 'absent').map(({ target }) => keyOf(target)),
  );
  const served = await servedEngines(connection, needs);
  return clusterState(
    {
      origin: connection.description,
      isCluster: true,
      install: facts,
      unread: [
        // Some kinds are listed more than once, with different content.
        ...new Map(
          all.flatMap((each) =>
            each.outcome === 'unread'
              ? [[`${each.target.kind} ${each.reason}`, { kind: each.target.kind, reason: each.reason }]]
              : [],
          ),
        ).values(),
        ...unread,
      ],
      isServed: (type) => !absent.has(keyOf(type)) && (served.get(keyOf(type)) ?? true),
      hasManagers: true,
    },
    // Objects with content follow the metadata, because later objects replace earlier ones.
    [...install.flatMap(objectsOfCollection), ...objects, ...sources, ...written],
  );
}

/** Lists with more content come later, because a later object replaces an earlier one. */
function wantedLists(needs: readonly Need[], install: Install): readonly WantedList[] {
  const lists: Readonly<Record<Need, readonly WantedList[]>> = {
    install: [],
    sources: [],
    written: [],
    namespaces: [{ ...namespaceType, keepsManagers: true }],
    providers: decidingKinds.map(({ kind }) => ({ apiVersion, kind })),
    roles: [clusterRoleType],
    'namespaced-roles': [{ ...roleType, keepsManagers: true }],
    rbac: rbacTypes,
    provided: contentTypes(install).map((type) => ({ ...type, keepsManagers: true })),
    accounts: [{ ...serviceAccountType, keepsManagers: true }],
    secrets: [{ ...secretObjectType, metadataOnly: true, keepsManagers: true }],
    'own-secrets': [
      { ...secretObjectType, labelSelector: `${managedByLabel}=${managedByReeve}`, keepsManagers: true },
    ],
  };
  const order = Object.keys(lists).filter((need) => needs.some((each) => each === need));
  const wanted = order.flatMap((need) => Object.entries(lists).find(([each]) => each === need)?.[1] ?? []);
  const byKey = new Map(wanted.map((list) => [`${keyOf(list)} ${list.labelSelector ?? ''}`, list]));
  return [...byKey.values()];
}

export async function readLists(
  { client, discovery }: ClusterConnection,
  wanted: readonly WantedList[],
  onPage?: (objects: number) => void,
): Promise<readonly ReadCollection[]> {
  const found = await Promise.all(wanted.map(async (list) => await targetOf(list, discovery)));
  const targets = found.flatMap((each) => ('path' in each ? [each] : []));
  const others = found.flatMap((each) => ('path' in each ? [] : [each]));
  const signal = AbortSignal.timeout(aMinuteMs);
  return [
    ...(await readCollections(client, targets, { concurrency, signal, ...(onPage && { onPage }) })),
    ...others,
  ];
}

async function targetOf(
  list: WantedList,
  discovery: ClusterConnection['discovery'],
): Promise<ReadTarget | ReadCollection> {
  const unlisted = { ...list, path: '' };
  try {
    const found = await discovery.find(list.apiVersion, list.kind);
    if (found === undefined) return { outcome: 'absent', target: unlisted };
    return { ...list, path: resourcePath({ apiVersion: list.apiVersion, plural: found.plural }) };
  } catch (error) {
    return { outcome: 'unread', target: unlisted, reason: unreadReason(error) };
  }
}

export function objectsOfCollection(collection: ReadCollection): readonly KubeObject[] {
  return collection.outcome === 'read' ? collection.objects : [];
}

/** The Secrets and ConfigMaps that shares name. */
async function readSources(
  connection: ClusterConnection,
  objects: readonly KubeObject[],
  unread: UnreadKind[],
): Promise<readonly KubeObject[]> {
  const named = {
    Secret: new Map<string, readonly [string, string]>(),
    ConfigMap: new Map<string, readonly [string, string]>(),
  };
  for (const { kind, spec } of objects) {
    const provider = providerKindOf(kind);
    const copies = provider && kinds[provider].copies;
    for (const [, source] of copies ? writtenSources(spec) : []) {
      const [namespace, name] = [ownMember(source, 'namespace'), ownMember(source, 'name')];
      // Without a kind, a source has the kind of the copies.
      const isSecret =
        [ownMember(source, 'kind'), copies?.kind].find((each) => each !== undefined) === 'Secret';
      if (typeof namespace === 'string' && typeof name === 'string')
        named[isSecret ? 'Secret' : 'ConfigMap'].set(`${namespace}/${name}`, [namespace, name]);
    }
  }
  return [
    ...(await readSecrets(connection, [...named.Secret.values()], unread)),
    ...(await readNamed(connection, configMapType, [...named.ConfigMap.values()], unread)),
  ];
}

/** The stored form of the Secrets, Roles and RoleBindings of files. */
async function readWritten(
  connection: ClusterConnection,
  added: readonly KubeObject[],
  unread: UnreadKind[],
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const type of [secretObjectType, roleType, roleBindingType]) {
    const names = added.flatMap(({ metadata: { namespace, name }, ...object }) =>
      isSameObjectType(type, { apiVersion: '', kind: '', ...object }) && namespace && name
        ? [[namespace, name] as const]
        : [],
    );
    found.push(...(await readNamed(connection, type, names, unread)));
  }
  return found;
}

export async function readSecrets(
  connection: ClusterConnection,
  names: readonly (readonly [namespace: string, name: string])[],
  unread: UnreadKind[],
): Promise<readonly KubeObject[]> {
  return await readNamed(connection, secretObjectType, names, unread);
}

/** Sends a request for each object, because only few are needed. */
async function readNamed(
  { client }: ClusterConnection,
  type: ObjectType,
  names: readonly (readonly [namespace: string, name: string])[],
  unread: UnreadKind[],
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const [namespace, name] of names) {
    const { apiVersion: version, kind } = type;
    const path = resourcePath({ apiVersion: version, plural: guessedPlural(kind), namespace, name });
    try {
      const answer = await unlessNotFound(() => client.request({ method: 'GET', path }));
      const object = answer && watchedObject(answer, {}, type);
      if (object !== undefined) found.push({ ...object, ...type });
    } catch (error) {
      unread.push({ kind: `${kind} ${namespace}/${name}`, reason: unreadReason(error) });
    }
  }
  return found;
}

/** Bindings of intents depend on which kinds of security engines the API server serves. */
async function servedEngines(
  { discovery }: ClusterConnection,
  needs: readonly Need[],
): Promise<ReadonlyMap<string, boolean>> {
  const types = needs.includes('providers') ? intentAdapters.flatMap((adapter) => adapter.needs) : [];
  const answers = types.map(async (type) => {
    const found = await discovery.find(type.apiVersion, type.kind);
    return [keyOf(type), found !== undefined] as const;
  });
  return new Map(await Promise.all(answers));
}

function keyOf({ apiVersion: version, kind }: ObjectType): string {
  return `${version} ${kind}`;
}
