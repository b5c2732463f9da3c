// Reads the input of an importer from a cluster: all kinds of the older tool, and the kinds of Kubernetes that it steers.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { ImportResult, OlderTool } from '../../importers/importer.ts';
import { Reader } from '../../importers/reader.ts';
import { namespaceType } from '../../inspect/input/loaded-state.ts';
import type { UnreadKind } from '../../inspect/input/cluster-state.ts';
import { unlessNotFound } from '../../base/kube-error.ts';
import { groupVersionPath } from '../../kube/http/https-client.ts';
import { kindsIn } from '../../kube/object-writer.ts';
import type { Progress } from '../output/progress.ts';
import { objectsOfCollection, readLists, readSecrets, type WantedList } from './cluster-input.ts';
import { deploymentSelector, deploymentType } from './find-install.ts';

interface ImportInput {
  readonly objects: readonly KubeObject[];
  readonly unread: readonly UnreadKind[];
}

/** Secrets come without their content. Those whose type and keys matter are read one by one later. */
export async function readForImport(
  connection: ClusterConnection,
  { groups, reads }: OlderTool,
  progress: Progress,
): Promise<ImportInput> {
  const own = await Promise.all(groups.map((group) => kindsOfGroup(connection, group)));
  const others = Object.entries(reads).flatMap(([apiVersion, kinds]) =>
    kinds.map((kind) => ({ apiVersion, kind, ...(kind === 'Secret' ? { metadataOnly: true } : {}) })),
  );
  const lists = [
    namespaceType,
    { ...deploymentType, labelSelector: deploymentSelector },
    ...own.flat(),
    ...others,
  ];
  const read = await readLists(connection, lists, progress.read).finally(progress.end);
  return {
    objects: read.flatMap(objectsOfCollection),
    unread: read.flatMap((each) =>
      each.outcome === 'unread' ? [{ kind: each.target.kind, reason: each.reason }] : [],
    ),
  };
}

/** Lists all kinds of a group, so that no kind is dropped silently. Returns none for a group that is not served. */
async function kindsOfGroup({ client }: ClusterConnection, group: string): Promise<readonly WantedList[]> {
  const found = await unlessNotFound(() => client.request({ method: 'GET', path: `/apis/${group}` }));
  const kinds = new Map<string, WantedList>();
  // The first version is the preferred one, but it need not serve each kind.
  const versions = new Reader(found).at('versions').items();
  for (const apiVersion of versions.flatMap((each) => each.at('groupVersion').text() ?? [])) {
    const path = groupVersionPath(apiVersion);
    const list = await unlessNotFound(() => client.request({ method: 'GET', path }));
    for (const kind of kindsIn(list ?? { resources: [] }).keys())
      if (!kinds.has(kind)) kinds.set(kind, { apiVersion, kind });
  }
  return [...kinds.values()];
}

/** Reads these Secrets with their content. */
export async function withSecrets(
  connection: ClusterConnection,
  names: ImportResult['sources'],
): Promise<ImportInput> {
  const unread: UnreadKind[] = [];
  const pairs = names.map(({ namespace, name }) => [namespace, name] as const);
  return { objects: await readSecrets(connection, pairs, unread), unread };
}
