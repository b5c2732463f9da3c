// The input from which one namespace is planned.
import type { KubeObject } from '../../base/metadata.ts';
import type { ObjectKey } from '../../base/object-type.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { ObservedAccount } from './account.ts';
import type { CopyState } from './copy.ts';
import type { Desired, Claim } from '../desired/desired.ts';
import type { FuseVerdict } from './fuse.ts';
import type { Observed } from './observed.ts';
import type { CompiledShare } from '../compile/compile-policy.ts';

/**
 * The answer of the install for one object. `unknown`: the install allows the object, but Reeve cannot watch its kind. The API
 * server may not serve the kind.
 */
export type ClaimScope = 'allowed' | 'not-allowed' | 'unknown';

/** The ServiceAccounts of one namespace. */
interface LiveAccounts {
  /** Accounts with fields that Reeve has added. */
  readonly marked: readonly ObservedAccount[];
  readonly liveOf: (key: ObjectKey) => ObservedAccount | undefined;
}

export interface PlanInput {
  readonly namespaceObject: KubeObject;
  readonly snapshot: ClusterSnapshot;
  readonly desired: Desired;
  /** All objects in the namespace that Reeve manages. */
  readonly ours: readonly Observed[];
  /** Returns the live object with the key, whether Reeve manages it or not. */
  readonly liveOf: (key: ObjectKey) => Observed | undefined;
  /** Undefined while the watch of ServiceAccounts has not synced. */
  readonly accounts: LiveAccounts | undefined;
  readonly copyStateOf: (share: CompiledShare) => CopyState;
  readonly fuseOf: (provider: ProviderId, live?: Observed) => FuseVerdict;
  readonly scopeOf: (claim: Claim) => ClaimScope;
  readonly now: Date;
}
