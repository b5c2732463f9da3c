// The engine's view of the cluster: the policies in force and the Namespaces that are known.
import type { PolicySet } from '../policy/policy-set.ts';
import type { KubeObject } from '../api/kube-object.ts';
import type { ClusterSnapshot } from '../policy/snapshot.ts';

export function clusterSnapshot(policies: PolicySet, namespaces: Iterable<KubeObject>): ClusterSnapshot {
  // A Map, because a namespace may be called `constructor`.
  const byName = new Map<string, KubeObject>();
  for (const namespace of namespaces) byName.set(namespace.metadata.name ?? '', namespace);
  return {
    policies,
    namespace: (name) => byName.get(name),
    namespaces: () => byName.values(),
  };
}
