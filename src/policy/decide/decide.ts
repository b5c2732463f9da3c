// Decides a validating review: what the object breaks, and which rights the write needs. Pure: no I/O, no clock.
import type { Circumstances } from '../terms/budget.ts';
import { decideNamespace } from './decide-namespace.ts';
import { decideNamespaced } from './decide-namespaced.ts';
import type { Review } from '../terms/review.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { nothingToDecide, type Decision } from '../terms/verdict.ts';

export function decide(review: Review, snapshot: ClusterSnapshot, circumstances: Circumstances): Decision {
  if (snapshot.policies.isExcluded(review.namespace)) return nothingToDecide;
  return review.resource === 'namespaces'
    ? decideNamespace(review, snapshot, circumstances)
    : decideNamespaced(review, snapshot, circumstances);
}
