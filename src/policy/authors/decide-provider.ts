// Decides a write of a provider or intent: problems of its spec first, then what the write does.
import { isTerminating } from '../../base/metadata.ts';
import {
  namespaceOfProvider,
  providerId,
  providerKinds,
  providerResources,
  type ProviderId,
  type ProviderKind,
} from '../terms/provider-id.ts';
import type { Steps } from '../terms/budget.ts';
import { intentResource, type ProviderReview } from '../terms/review.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { nothingToDecide, type Decision } from '../terms/verdict.ts';
import { reportedOn, type ProviderCircumstances } from './provider-write.ts';
import { confirmationNotices } from './guards.ts';
import { sourceProblems } from '../compile/install.ts';
import { forNewBinding } from '../intents/intent-context.ts';
import { decideIntent } from './decide-intent.ts';
import { decideWrite, isUntouched, specViolation } from './decide-write.ts';
import { versionsOf, writeContexts } from './binding-versions.ts';

function kindOf({ resource }: ProviderReview): ProviderKind | undefined {
  return providerKinds.find((kind) => providerResources[kind] === resource);
}

/** Names the object of the review, such as `NamespacePolicy/team-namespaces`. */
export function reviewSubject(review: ProviderReview): string {
  const kind = kindOf(review);
  return kind === undefined
    ? `SecurityIntent/${review.name}`
    : providerId(kind, review.name, review.namespace);
}

export function* decideProvider(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Decision> {
  const kind = kindOf(review);
  if (kind === undefined || review.resource === intentResource)
    return yield* decideIntent(review, snapshot, circumstances);
  const { object, oldObject } = review;
  const id = providerId(kind, review.name, review.namespace);
  if (isUntouched(review) || isSweptAway(review, id, snapshot))
    return { ...nothingToDecide, notices: confirmationNotices(review, id) };
  const { context } = snapshot.intents;
  const contexts = writeContexts(oldObject === undefined ? forNewBinding(context) : context);
  const { problems, ...versions } = versionsOf(kind, { before: oldObject, after: object }, contexts);
  const all = [
    ...problems,
    ...(object === undefined ? [] : sourceProblems(kind, object, circumstances.install)),
  ];
  if (all.length > 0) return { ...nothingToDecide, violations: all.map(specViolation) };
  const write = { id, ...versions, reported: reportedOn(oldObject) };
  return yield* decideWrite(review, write, snapshot, circumstances);
}

/** The namespace controller deletes all objects of a namespace that is being deleted. A refusal would only delay that. */
function isSweptAway({ object }: ProviderReview, id: ProviderId, snapshot: ClusterSnapshot): boolean {
  const namespace = namespaceOfProvider(id);
  const namespaceObject = namespace === undefined ? undefined : snapshot.namespace(namespace);
  return object === undefined && namespaceObject !== undefined && isTerminating(namespaceObject);
}
