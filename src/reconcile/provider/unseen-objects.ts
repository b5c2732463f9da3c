// Asks the API server which objects a provider still has, because a watch can be behind the writes of an earlier leader.
import { type KubeObject, isTerminating } from '../../base/metadata.ts';
import { KubeError } from '../../base/kube-error.ts';
import { providesFields } from '../../policy/compile/load-provider.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { hasFieldsOf, observeAccount } from '../../policy/plan/account.ts';
import { ownershipOf } from '../../policy/plan/observed.ts';
import { kindOfProvider, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import { providedKinds } from '../live/watches.ts';
import type { Planning } from '../planning.ts';
import type { AuditReader, OwnedReader, PlanContext } from '../ports.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';

interface Readers {
  readonly ownedReader: OwnedReader;
  readonly auditReader: AuditReader;
}

/** The interval of questions while objects are left that no watch has reported. */
export const unseenMs = 2000;

/** Rejects with a KubeError. Objects in namespaces that are excluded or being deleted do not count. */
export async function hasUnseenObjects(
  id: ProviderId,
  context: PlanContext,
  { objects }: Planning,
  { ownedReader, auditReader }: Readers,
  signal: AbortSignal,
): Promise<boolean> {
  const { cluster, install } = context;
  const snapshot = cluster.snapshot();
  const isInManaged = managedAsk(context, signal);
  for (const kind of providedKinds(kindOfProvider(id), install)) {
    // The caller waits for kinds whose watch has not synced.
    if (!objects.isKnown(kind) || !snapshot.isServed(kind.type)) continue;
    const isLeft = async (object: KubeObject): Promise<boolean> =>
      ownershipOf(kind.type, object).owner === id && !isTerminating(object) && (await isInManaged(object));
    if (await someOf(ownedReader.listOwned(id, kind, signal), isLeft)) return true;
  }
  if (!providesFields(cluster.provider(id)?.definition)) return false;
  return await someOf(
    auditReader.listExisting('serviceaccounts', undefined, signal),
    async (account) =>
      !isTerminating(account) && hasFieldsOf(id, observeAccount(account)) && (await isInManaged(account)),
  );
}

/**
 * Returns whether Reeve acts in the namespace of an object. Asks the API server about namespaces that seem to be missing or
 * being deleted, because the watch of Namespaces can be behind, too. Otherwise, an object in a new namespace would stay for
 * ever.
 */
function managedAsk(
  { cluster, writer }: PlanContext,
  signal: AbortSignal,
): (object: KubeObject) => Promise<boolean> {
  const snapshot = cluster.snapshot();
  const asked = new Map<string, Promise<boolean>>();
  const ask = async (name: string): Promise<boolean> => {
    const namespaceObject = await writer.read({ apiVersion: 'v1', kind: 'Namespace', name }, signal);
    return namespaceObject !== undefined && isManaged(namespaceObject, snapshot);
  };
  return async ({ metadata: { namespace = '' } }) => {
    if (isManagedNamespace(namespace, snapshot)) return true;
    const answer = asked.get(namespace) ?? ask(namespace);
    asked.set(namespace, answer);
    return await answer;
  };
}

/** Returns no objects of a kind that our account may not list or that is not served, because they cannot hold the finalizer. */
async function someOf(
  listed: AsyncIterable<KubeObject>,
  isWanted: (object: KubeObject) => Promise<boolean>,
): Promise<boolean> {
  try {
    for await (const object of listed) if (await isWanted(object)) return true;
    return false;
  } catch (error) {
    if (error instanceof KubeError && (error.code === 403 || error.code === 404)) return false;
    throw error;
  }
}

// Finds the objects and fields that a provider being deleted still has in namespaces.

interface RemainingObjects {
  /** True while an object or a field is left that Reeve can remove. */
  readonly isHeld: boolean;
  /** The kinds whose objects are left alone, because the API server does not serve them now. */
  readonly unserved: readonly string[];
}

/** False for a namespace that does not exist, is excluded, or is being deleted. */
function isManagedNamespace(name: string, snapshot: ClusterSnapshot): boolean {
  const namespaceObject = snapshot.namespace(name);
  return namespaceObject !== undefined && isManaged(namespaceObject, snapshot);
}

/** Objects in namespaces that are excluded or being deleted do not count. */
export function remainingObjects(
  id: ProviderId,
  cluster: LiveCluster,
  { objects, accounts }: Planning,
): RemainingObjects {
  const snapshot = cluster.snapshot();
  const isKept = (name: string): boolean => isManagedNamespace(name, snapshot);
  const namespaces = [...objects.countsOf(id).keys()].filter(isKept);
  const left = namespaces.flatMap((name) => objects.ours(name).filter(({ owner }) => owner === id));
  const unserved = left.filter(({ type }) => !snapshot.isServed(type));
  return {
    isHeld: left.length > unserved.length || accounts.holdsFieldsOf(id, isKept),
    unserved: [...new Set(unserved.map(({ type }) => type.kind))],
  };
}
