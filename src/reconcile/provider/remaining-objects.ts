// Finds what a provider that is being deleted still has in namespaces.
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { ObservedAccounts } from '../live/observed-accounts.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';

interface Observations {
  readonly cluster: Pick<LiveCluster, 'snapshot'>;
  readonly objects: ObservedObjects;
  readonly accounts: ObservedAccounts;
}

interface RemainingObjects {
  /** True while an object or a field is left that Reeve can remove. */
  readonly isHeld: boolean;
  /** The kinds of objects that are left alone, because the API server does not serve their kind now. */
  readonly unserved: readonly string[];
}

/** False for a namespace that does not exist, is excluded, or is being deleted. */
export function isManagedNamespace(name: string, snapshot: ClusterSnapshot): boolean {
  const namespaceObject = snapshot.namespace(name);
  return namespaceObject !== undefined && isManaged(namespaceObject, snapshot);
}

/** Objects in namespaces that are excluded or being deleted do not count. */
export function remainingObjects(
  id: ProviderId,
  { cluster, objects, accounts }: Observations,
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
