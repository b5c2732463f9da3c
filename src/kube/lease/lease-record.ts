// What a Lease says about who leads, and what it says after somebody took, kept or left the lead.
// https://kubernetes.io/docs/concepts/architecture/leases/#leader-election
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import { malformedAnswer } from '../http/answer-fault.ts';
import { microTime } from './micro-time.ts';
import { resourceVersionOf } from '../watch/watched-object.ts';

export interface LeaseRecord {
  /** Empty when nobody leads. */
  readonly holder: string;
  /** How long the holder asks others to wait for its next sign of life; undefined when it does not say. */
  readonly durationMs: number | undefined;
  /** Another after every write: each counts as a sign of life. */
  readonly resourceVersion: string;
  /** The whole object: who replaces it keeps what others wrote, and succeeds only if it is still the same. */
  readonly lease: JsonObject;
}

export interface Claim {
  readonly identity: string;
  readonly durationMs: number;
  readonly now: Date;
}

/** Throws a KubeError when this is no Lease. */
export function readLease(lease: JsonObject): LeaseRecord {
  const resourceVersion = resourceVersionOf(lease);
  if (resourceVersion === undefined) throw malformedAnswer();
  const { holderIdentity, leaseDurationSeconds } = specOf(lease);
  return {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationMs: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1000 : undefined,
    resourceVersion,
    lease,
  };
}

export function emptyLease(namespace: string, name: string): JsonObject {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } };
}

/** Keeps the moment it was acquired when the claimant holds it already. */
export function claimedLease({ lease, holder }: LeaseRecord, claim: Claim): JsonObject {
  const spec = { ...specOf(lease), ...claimedSpec(claim) };
  if (holder === claim.identity) return { ...lease, spec };
  const taken = { acquireTime: microTime(claim.now), leaseTransitions: transitionsOf(lease) + 1 };
  return { ...lease, spec: { ...spec, ...taken } };
}

/** The form that client-go leaves a Lease in, which every elector takes at once. */
export function releasedLease({ lease }: LeaseRecord, now: Date): JsonObject {
  const spec = { ...specOf(lease), holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
  return { ...lease, spec };
}

function claimedSpec({ identity, durationMs, now }: Claim): JsonObject {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    renewTime: microTime(now),
  };
}

function specOf(lease: JsonObject): JsonObject {
  const spec = ownMember(lease, 'spec');
  return isJsonObject(spec) ? spec : {};
}

function transitionsOf(lease: JsonObject): number {
  const transitions = specOf(lease)['leaseTransitions'];
  // The first holder is no transition.
  return typeof transitions === 'number' ? transitions : -1;
}
