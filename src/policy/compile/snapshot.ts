// What the engine knows of the cluster beyond the request: a view of one moment, fed by src/state.
import type { KubeObject } from '../../base/kube-object.ts';
import type { ProviderId, ProviderState } from '../terms/provider-id.ts';
import type { PolicySet } from './policy-set.ts';
import type { ShareSet } from './share-set.ts';

export interface ClusterSnapshot {
  readonly policies: PolicySet;
  readonly shares: ShareSet;
  /** Every stored policy and share, those that do not load included; without a cluster there are none. */
  readonly owners: ReadonlyMap<ProviderId, ProviderState>;
  namespace(name: string): KubeObject | undefined;
  namespaces(): Iterable<KubeObject>;
}
