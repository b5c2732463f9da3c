// Says which Namespace must be known before a review can be decided.
import type { PolicySet } from './policy-set.ts';
import type { Review } from '../terms/review.ts';

/** Undefined when nothing beyond the request is needed: excluded namespaces and unruled objects cost no look-up. */
export function namespaceNeeded(review: Review, policies: PolicySet): string | undefined {
  const { resource, operation, namespace } = review;
  // Only what is written is judged; whoever cleans up must not be held up.
  if (resource === 'namespaces' || operation === 'DELETE') return undefined;
  return policies.isExcluded(namespace) || !policies.judges(resource) ? undefined : namespace;
}
