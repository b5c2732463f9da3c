// The engine's view of a cluster that does not change: policies, shares and Namespaces from files.
import type { KubeObject } from '../base/kube-object.ts';
import type { ClusterSnapshot, PolicySet, ShareSet } from '../policy/compile/snapshot.ts';

export function clusterSnapshot(
  policies: PolicySet,
  shares: ShareSet,
  namespaces: Iterable<KubeObject>,
): ClusterSnapshot {
  // A Map, because a namespace may be called `constructor`.
  const byName = new Map<string, KubeObject>();
  for (const namespace of namespaces) byName.set(namespace.metadata.name ?? '', namespace);
  return {
    policies,
    shares,
    owners: new Map(),
    namespace: (name) => byName.get(name),
    namespaces: () => byName.values(),
  };
}
