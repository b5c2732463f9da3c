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

/**
 * Returns the review of a Namespace that Reeve creates or deletes as one of the writer of its claim. If the claim is deleted with
 * the namespace around it, no user has asked for the deletion of this Namespace, so it is a deletion by Reeve itself.
 */
export function asClaimant(
  review: Review,
  stored: KubeObject | undefined,
  snapshot: Pick<ClusterSnapshot, 'namespace'>,
): ClaimedReview {
  const claim = stored === undefined ? undefined : readClaim(stored);
  if (stored === undefined || claim?.ok !== true || !isOfClaim(review.object ?? review.oldObject, stored))
    return refused('names a NamespaceClaim that exists');
  const requester = claimantOf(claim.value);
  if (requester === undefined || !asksFor(claim.value, review))
    return refused('is what its NamespaceClaim asks for');
  if (isTerminating(stored) !== (review.operation === 'DELETE'))
    return refused('is created while its claim exists, and deleted after it');
  if (endsWithItsNamespace(claim.value, review, snapshot)) return { ok: true, review, claim: claim.value };
  const userInfo = { ...claim.value.spec.requester };
  const attributes = { ...review.attributes, userInfo };
  return { ok: true, review: { ...review, requester, attributes }, claim: claim.value };
}

function refused(what: string): ClaimedReview {
  return { ok: false, decision: refusing(unclaimed(what)) };
}

function endsWithItsNamespace(
  { metadata: { namespace } }: NamespaceClaim,
  { operation }: Review,
  snapshot: Pick<ClusterSnapshot, 'namespace'>,
): boolean {
  const around = snapshot.namespace(namespace);
  return operation === 'DELETE' && (around === undefined || isTerminating(around));
}

function asksFor({ spec }: NamespaceClaim, { operation, name, object }: Review): boolean {
  if (spec.name !== name) return false;
  return operation === 'CREATE' ? hasKeys(spec, object) : spec.deletionPolicy === 'Delete';
}

/** Defaults and other webhooks may have added keys, and an enforced value replaces that of the claim. */
function hasKeys(spec: NamespaceClaim['spec'], object: KubeObject | undefined): boolean {
  return (['labels', 'annotations'] as const).every((field) =>
    Object.keys(spec[field] ?? {}).every((key) => valueOf(metadataMap(object, field), key) !== undefined),
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
