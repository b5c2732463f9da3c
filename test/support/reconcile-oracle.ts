// Judges from the stored objects alone whether a cluster is as its policies and shares want it.
import { testInstall } from './engine.ts';
import { isDeepStrictEqual } from 'node:util';
import { decidingKinds } from '../../src/api/kinds.ts';
import type { KubeObject } from '../../src/base/metadata.ts';
import { managedByLabel, managedByReeve, ownerAnnotation } from '../../src/schema/names.ts';
import { ownMember } from '../../src/base/json.ts';
import { copyOf, type CopyState } from '../../src/policy/plan/copy.ts';
import { desired, isManaged, type Desired, type Claim } from '../../src/policy/desired/desired.ts';
import { objectKey } from '../../src/base/object-type.ts';
import { parseProviderId } from '../../src/policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../../src/policy/compile/snapshot.ts';
import { LiveCluster } from '../../src/state/live-cluster.ts';
import type { MemoryCluster } from './memory-cluster.ts';
import type { CompiledShare } from '../../src/policy/compile/compile-share.ts';

/** Returns each deviation in words. Empty when there is none. */
export function deviations(memory: MemoryCluster, now: Date): readonly string[] {
  const snapshot = snapshotOf(memory);
  return [...snapshot.namespaces()]
    .filter((namespaceObject) => isManaged(namespaceObject, snapshot))
    .flatMap((namespaceObject) => {
      const namespace = namespaceObject.metadata.name ?? '';
      const wanted = desired(namespaceObject, snapshot, now);
      const found = [
        ...missing(memory, namespace, wanted, snapshot),
        ...unwanted(memory, namespace, wanted, snapshot),
      ];
      return found.map((deviation) => `${namespace} ${deviation}`);
    });
}

function missing(
  memory: MemoryCluster,
  namespace: string,
  wanted: Desired,
  snapshot: ClusterSnapshot,
): readonly string[] {
  return [...wanted.claims].flatMap(([key, [winner]]) => {
    if (winner === undefined || wanted.frozen.has(winner.provider)) return [];
    const live = memory.get({ ...winner.type, namespace, name: winner.name });
    if (live !== undefined && (!isOurs(live) || isTerminating(live) || isKept(live, wanted, snapshot)))
      return [];
    const deviation = deviationOf(memory, live, winner);
    return deviation === undefined ? [] : [`${key}: ${deviation}`];
  });
}

function unwanted(
  memory: MemoryCluster,
  namespace: string,
  wanted: Desired,
  snapshot: ClusterSnapshot,
): readonly string[] {
  return oursIn(memory, namespace).flatMap((live) => {
    const { apiVersion = '', kind = '', metadata } = live;
    const key = objectKey({ apiVersion, kind }, metadata.name ?? '');
    if (wanted.claims.has(key) || isKept(live, wanted, snapshot) || awaitsSource(memory, live, wanted))
      return [];
    return [`${key}: is not desired`];
  });
}

/** A copy stays while its share wants another one whose source cannot be copied. */
function awaitsSource(memory: MemoryCluster, live: KubeObject, { claims }: Desired): boolean {
  const owner = live.metadata.annotations?.[ownerAnnotation];
  return [...claims.values()]
    .flat()
    .some(
      ({ provider, content }) =>
        provider === owner && content.kind === 'copy' && copyFrom(memory, content.share)?.kind !== 'ready',
    );
}

/** The object stays as it is: its provider is invalid or suspended, or its desired state has an error. */
function isKept(live: KubeObject, { frozen }: Desired, { providers }: ClusterSnapshot): boolean {
  const owner = parseProviderId(live.metadata.annotations?.[ownerAnnotation]);
  const state = owner === undefined ? undefined : providers.get(owner);
  return owner === undefined || frozen.has(owner) || state?.isSuspended === true || state?.isValid === false;
}

function deviationOf(
  memory: MemoryCluster,
  live: KubeObject | undefined,
  { content, provider }: Claim,
): string | undefined {
  const copy = content.kind === 'copy' ? copyFrom(memory, content.share) : undefined;
  // Without a source, copies stay as they are, and none are created.
  if (content.kind === 'copy' && copy?.kind !== 'ready') return undefined;
  if (live === undefined) return 'is missing';
  const wanted = copy?.kind === 'ready' ? copy.payload.body : content.kind === 'object' ? content.body : {};
  const differing = ['roleRef', 'subjects', 'spec', 'data', 'type'].find(
    (field) => !isDeepStrictEqual(live[field], ownMember(wanted, field)),
  );
  if (differing !== undefined) return `has another ${differing}`;
  return live.metadata.annotations?.[ownerAnnotation] === provider ? undefined : 'names another provider';
}

function copyFrom(memory: MemoryCluster, share: CompiledShare): CopyState | undefined {
  const found = share.sources.flatMap((source) => memory.get({ ...source.type, ...source }) ?? []);
  return found.length < share.sources.length ? undefined : copyOf(share, found, new Date(0));
}

/** A finalizer keeps the object, and nothing can be done until it is removed. */
function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
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
  const cluster = new LiveCluster({ install: testInstall });
  for (const { kind } of decidingKinds) cluster.sinks[kind].replaced(memory.list(kind), '1');
  cluster.namespaces.replaced(memory.list('Namespace'), '1');
  return cluster.snapshot();
}
