// Judges writes of NamespaceClaims, and of the Namespaces that the reconciler creates and deletes for them.
import type { Deadline } from '../base/clock.ts';
import type { KubeObject } from '../base/metadata.ts';
import { decideClaim, stampClaim } from '../policy/authors/decide-claim.ts';
import { asClaimant, decideClaimed, mutateClaimed } from '../policy/authors/decide-claimed.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import { decide } from '../policy/decide/decide.ts';
import { mutate, type Mutation } from '../policy/decide/mutate.ts';
import type { Circumstances } from '../policy/terms/budget.ts';
import { claimOf, claimRef } from '../policy/terms/claim.ts';
import type { Install } from '../policy/terms/install.ts';
import type { AnyReview, ClaimReview, Decision, Review } from '../policy/terms/review.ts';
import { allowed, outOfTime, type Answer } from './answer.ts';
import type { ClaimFinder, Endpoint } from './ports.ts';

/** The part of the engine for one kind of review. */
export interface Engine<R extends AnyReview> {
  readonly mutate: (review: R, snapshot: ClusterSnapshot, circumstances: Circumstances) => Mutation;
  readonly decide: (
    review: R,
    snapshot: ClusterSnapshot,
    circumstances: Circumstances & { readonly install: Install },
  ) => Decision;
}

export const plainEngine: Engine<Review> = { mutate, decide };
export const claimEngine: Engine<ClaimReview> = { mutate: stampClaim, decide: decideClaim };

type Judge = (review: Review, engine: Engine<Review>) => Answer | Promise<Answer>;

/** Judges the Namespace as one of the user who wrote its claim. */
// oxlint-disable-next-line max-params -- one caller, which has them all at hand
export async function judgeClaimed(
  endpoint: Endpoint,
  review: Review,
  { snapshot, claims }: { readonly snapshot: ClusterSnapshot; readonly claims: ClaimFinder | undefined },
  deadline: Deadline,
  judge: Judge,
): Promise<Answer> {
  const claim = claimOf(review.object ?? review.oldObject);
  const found = await deadline.within((signal) => storedClaim(claim, claims, signal));
  if (!found.inTime) return outOfTime;
  const claimed = asClaimant(review, found.value, snapshot);
  if (!claimed.ok) {
    // The validating webhook says why.
    if (endpoint === 'mutate') return allowed;
    return await judge(review, { mutate: mutateClaimed, decide: () => claimed.decision });
  }
  return await judge(claimed.review, {
    mutate: mutateClaimed,
    decide: (each, known, circumstances) => decideClaimed(each, claimed.claim, known, circumstances),
  });
}

/** An error counts as a claim that does not exist, because the refused write is repeated. */
async function storedClaim(
  claim: string | undefined,
  claims: ClaimFinder | undefined,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  if (claim === undefined || claims === undefined) return undefined;
  return await claims.find(claimRef(claim), signal).catch(() => undefined);
}
