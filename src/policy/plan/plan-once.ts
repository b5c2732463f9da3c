// Plans an object that is created once: created where it is missing, and left to its namespace once the Namespace records it.
import type { Claim } from '../desired/desired.ts';
import type { RecordRoom } from '../terms/creation-record.ts';
import { failedResult, syncedResult, type Observed, type ObjectResult } from './observed.ts';
import { planClaim, type ClaimStep } from './plan-claim.ts';
import type { PlanInput } from './plan-input.ts';

/**
 * An existing object is left alone, also if a user created it. One that has ended for another policy is replaced, because access
 * must not outlive its end. Reeve creates with its marks, so that no user deletes the object before
 * the Namespace records it. Without the record, the next leader would create the object again.
 */
export function planOnce(
  claim: Claim,
  live: Observed | undefined,
  room: () => RecordRoom,
  input: PlanInput,
): ClaimStep | ObjectResult {
  const isFrozen = input.desired.frozen.has(claim.provider);
  if (!isFrozen && !room().take(claim.key)) return failedResult(claim, 'RecordFull', fullText);
  const isThere = live !== undefined && !live.isTerminating && input.scopeOf(claim) === 'allowed';
  return isThere && !hasEnded(live, input) ? syncedResult(claim) : planClaim(claim, live, input);
}

/** Access that had an end must not outlive it, even where another policy was to create the object once. */
export function hasEnded(
  { owner, key, expiresAt }: Observed,
  { desired, now }: Pick<PlanInput, 'desired' | 'now'>,
): boolean {
  if (owner === undefined) return false;
  return (
    desired.expired.get(owner)?.has(key) === true || (expiresAt !== undefined && expiresAt <= now.getTime())
  );
}

const fullText =
  'the annotation reeve.dev/created-once of the Namespace has no room for it, so Reeve could not know later that it was created';

/** Returns the claims whose objects exist, so that the Namespace must record them now. A frozen provider changes nothing. */
export function toRecord(
  { claims, frozen }: PlanInput['desired'],
  results: readonly ObjectResult[],
): readonly Claim[] {
  return [...claims.values()].flatMap((all) =>
    all.filter(
      ({ once, provider, key }) =>
        once !== undefined &&
        !frozen.has(provider) &&
        results.some((each) => each.key === key && each.provider === provider && each.state === 'synced'),
    ),
  );
}
