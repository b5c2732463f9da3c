// Says, from what is stored alone, whether a cluster is as policies and shares want it.
import type { KubeObject } from '../../src/api/kube-object.ts';
import { managedByLabel, managedByReeve, ownerAnnotation, systemNamespaces } from '../../src/api/names.ts';
import type { Claim } from '../../src/policy/contents/claim.ts';
import { copyOf } from '../../src/policy/contents/copy.ts';
import { desired, isManaged } from '../../src/policy/contents/desired.ts';
import { objectKey } from '../../src/policy/contents/object-key.ts';
import { parseOwnerId } from '../../src/policy/owner.ts';
import type { ClusterSnapshot } from '../../src/policy/snapshot.ts';
import { LiveCluster } from '../../src/state/live-cluster.ts';
import type { MemoryCluster } from './memory-cluster.ts';

/** What is not as it should be, in words; nothing when all is well. */
export function deviations(memory: MemoryCluster, now: Date): readonly string[] {
  const snapshot = snapshotOf(memory);
  return [...snapshot.namespaces()].flatMap((namespaceObject) => {
    if (!isManaged(namespaceObject, snapshot)) return [];
    const namespace = namespaceObject.metadata.name ?? '';
    const wanted = desired(namespaceObject, snapshot, now);
    const found: string[] = [];
    for (const [key, [winner]] of wanted.claims) {
      if (winner === undefined || wanted.frozen.has(winner.owner)) continue;
      const fault = faultOf(memory, namespace, winner);
      if (fault !== undefined) found.push(`${namespace} ${key}: ${fault}`);
    }
    for (const live of oursIn(memory, namespace)) {
      const key = objectKey(
        { apiVersion: live.apiVersion ?? '', kind: live.kind ?? '' },
        live.metadata.name ?? '',
      );
      const owner = parseOwnerId(live.metadata.annotations?.[ownerAnnotation]);
      const state = owner === undefined ? undefined : snapshot.owners.get(owner);
      const isFrozen =
        owner !== undefined &&
        (wanted.frozen.has(owner) || state?.isSuspended === true || state?.isValid === false);
      if (!wanted.claims.has(key) && !isFrozen) found.push(`${namespace} ${key}: nobody wants it`);
    }
    return found;
  });
}

function faultOf(
  memory: MemoryCluster,
  namespace: string,
  { content, type, name, owner }: Claim,
): string | undefined {
  const live = memory.get({ ...type, namespace, name });
  if (content.kind === 'copy') {
    const source = memory.get({ ...type, ...content.share.source });
    const copy = source === undefined ? undefined : copyOf(content.share, source);
    // Without a source, copies stay as they are, and none are made.
    if (copy?.kind !== 'ready') return undefined;
    if (live === undefined) return 'it is missing';
    if (!isOurs(live)) return undefined;
    if (JSON.stringify(live['data']) !== JSON.stringify(copy.payload.data)) return 'its data differ';
    if (live['type'] !== copy.payload.type) return 'its type differs';
  } else {
    if (live === undefined) return 'it is missing';
    if (!isOurs(live)) return undefined;
    for (const field of ['roleRef', 'subjects', 'spec'])
      if (JSON.stringify(live[field]) !== JSON.stringify(content.body[field])) return `its ${field} differs`;
  }
  return live.metadata.annotations?.[ownerAnnotation] === owner ? undefined : 'it names another owner';
}

function isOurs({ metadata: { labels } }: KubeObject): boolean {
  return labels?.[managedByLabel] === managedByReeve;
}

function oursIn(memory: MemoryCluster, namespace: string): readonly KubeObject[] {
  return ['Secret', 'RoleBinding', 'ResourceQuota']
    .flatMap((kind) => memory.list(kind, namespace))
    .filter((object) => isOurs(object) && object.metadata.deletionTimestamp === undefined);
}

export function snapshotOf(memory: MemoryCluster): ClusterSnapshot {
  const cluster = new LiveCluster({
    excludedNamespaces: [...systemNamespaces, 'reeve-system', 'reeve-shared'],
  });
  cluster.policies.replaced(memory.list('NamespacePolicy'), '1');
  cluster.shares.replaced(memory.list('SecretShare'), '1');
  cluster.namespaces.replaced(memory.list('Namespace'), '1');
  return cluster.snapshot();
}
