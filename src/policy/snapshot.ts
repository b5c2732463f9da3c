// What the engine knows of the cluster beyond the request: a view of one moment, fed by src/state.
import type { PolicySet } from './policy-set.ts';
import type { KubeObject } from '../api/kube-object.ts';

export interface ClusterSnapshot {
  readonly policies: PolicySet;
  namespace(name: string): KubeObject | undefined;
  namespaces(): Iterable<KubeObject>;
}
