// Decides the writes of Namespaces for claims: the claim must exist and ask for them, and its writer is judged again.
import type { NamespaceClaim } from '../../api/namespace-claim/namespace-claim.ts';
import { annotationsOf, isTerminating, metadataMap, valueOf, type KubeObject } from '../../base/metadata.ts';
import { requestedByAnnotation } from '../../schema/names.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { decide } from '../decide/decide.ts';
import { mutate, patchOf, type Mutation } from '../decide/mutate.ts';
import type { Circumstances } from '../terms/budget.ts';
import { isOfClaim, readClaim, claimantOf } from '../terms/claim.ts';
import type { Decision, Review, Violation } from '../terms/review.ts';
import { decideMatched, guard, refusing, requestedBy } from './decide-claim.ts';

type ClaimedReview =
  | { readonly ok: true; readonly review: Review; readonly claim: NamespaceClaim }
  | { readonly ok: false; readonly decision: Decision };

/** Returns the review of a Namespace that Reeve creates or deletes as one of the writer of its claim. */
export function asClaimant(review: Review, stored: KubeObject | undefined): ClaimedReview {
  const claim = stored === undefined ? undefined : readClaim(stored);
  const namespaceObject = review.object ?? review.oldObject;
  if (stored === undefined || claim?.ok !== true || !isOfClaim(namespaceObject, stored))
    return { ok: false, decision: refusing(unclaimed('names a NamespaceClaim that exists')) };
  const requester = claimantOf(claim.value);
  const isAsked =
    review.operation === 'CREATE'
      ? asksFor(claim.value, review.object)
      : claim.value.spec.deletionPolicy === 'Delete';
  if (requester === undefined || !isAsked || claim.value.spec.name !== review.name)
    return { ok: false, decision: refusing(unclaimed('is what its NamespaceClaim asks for')) };
  if (isTerminating(stored) !== (review.operation === 'DELETE'))
    return {
      ok: false,
      decision: refusing(unclaimed('is created while its claim exists, and deleted after it')),
    };
  const userInfo = { ...claim.value.spec.requester };
  const attributes = { ...review.attributes, userInfo };
  return { ok: true, review: { ...review, requester, attributes }, claim: claim.value };
}

/** Defaults and other webhooks may have added keys. */
function asksFor({ spec }: NamespaceClaim, object: KubeObject | undefined): boolean {
  return (['labels', 'annotations'] as const).every((field) =>
    Object.entries(spec[field] ?? {}).every(
      ([key, value]) => valueOf(metadataMap(object, field), key) === value,
    ),
  );
}

/** Adds to the defaults whose request it is. The jail admits no Namespace without that, so the webhook has seen each. */
export function mutateClaimed(
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Mutation {
  const { object } = review;
  if (object === undefined) return { patch: [], denials: [], policies: [], notices: [], overBudget: false };
  const asked = requestedBy(object, review.requester);
  const mutation = mutate({ ...review, object: asked }, snapshot, circumstances);
  const stamp = new Map([[requestedByAnnotation, review.requester.username]]);
  return {
    ...mutation,
    patch: [...patchOf(object, { labels: new Map(), annotations: stamp }), ...mutation.patch],
  };
}

export function decideClaimed(
  review: Review,
  claim: NamespaceClaim,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  if (review.operation !== 'CREATE') return decide(review, snapshot, circumstances);
  const requested = valueOf(annotationsOf(review.object), requestedByAnnotation);
  if (requested !== review.requester.username)
    return refusing({ ...unclaimed('names the user of its claim'), isSetByReeve: true });
  return decideMatched(review, claim, snapshot, circumstances);
}

function unclaimed(what: string): Violation {
  return guard('metadata.annotations', 'a Namespace of the reconciler', `one that ${what}`);
}
