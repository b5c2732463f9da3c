// The input from which one namespace is planned.
import type { KubeObject } from '../../base/metadata.ts';
import { isSameObjectType, secretObjectType, type ObjectKey } from '../../base/object-type.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { ObservedAccount } from './account.ts';
import type { CopyState } from './copy.ts';
import type { Desired, Claim } from '../desired/desired.ts';
import type { FuseVerdict } from './fuse.ts';
import { failedResult, type ObjectResult, type Observed } from './observed.ts';
import type { CompiledShare } from '../compile/compile-share.ts';

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

export function outOfScope(claim: Claim, scope: Exclude<ClaimScope, 'allowed'>): ObjectResult {
  const { apiVersion, kind } = claim.type;
  if (scope === 'unknown') {
    const message = `Reeve cannot watch ${kind} of ${apiVersion}: the cluster does not serve it, or Reeve has no right to it`;
    return failedResult(claim, 'KindUnavailable', message);
  }
  if (claim.content.kind === 'copy' && !isSameObjectType(claim.type, secretObjectType)) {
    const message =
      `this installation does not allow shares of ${kind}s: run Reeve with --resource-kind=${apiVersion}/${kind} as well, ` +
      `and give Reeve's own account the rights on ${kind}s`;
    return failedResult(claim, 'KindNotAllowed', message);
  }
  if (claim.content.kind === 'copy') {
    const message =
      `this installation does not allow shares of Secrets named ${claim.name}: run Reeve with ` +
      `--secret-name=${claim.name} as well, and add the name to the rules for Secrets of Reeve's own account`;
    return failedResult(claim, 'NameNotAllowed', message);
  }
  const message = `this installation does not allow policies to provide ${kind} of ${apiVersion}`;
  return failedResult(claim, 'KindNotAllowed', message);
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
