// Everything that the plan of one namespace is made from.
import type { KubeObject } from '../../base/kube-object.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { CopyState } from './copy.ts';
import type { Desired } from '../desired/desired.ts';
import type { FuseVerdict } from './fuse.ts';
import type { ObjectKey } from '../compile/object-key.ts';
import type { Observed } from './observed.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import type { Claim } from '../desired/provider.ts';

/**
 * Whether the install lets policies and shares provide that object. `unknown`: it does, but nobody can say whether there
 * is one, as where the API server does not serve the kind.
 */
export type ClaimScope = 'allowed' | 'not-allowed' | 'unknown';

export interface PlanInput {
  readonly namespaceObject: KubeObject;
  readonly snapshot: ClusterSnapshot;
  readonly desired: Desired;
  /** All objects of the namespace that are ours. */
  readonly ours: readonly Observed[];
  /** Whatever lives under that key, ours or not. */
  readonly liveOf: (key: ObjectKey) => Observed | undefined;
  readonly copyStateOf: (share: CompiledShare) => CopyState;
  readonly fuseOf: (owner: ProviderId) => FuseVerdict;
  readonly scopeOf: (claim: Claim) => ClaimScope;
  readonly now: Date;
}
