// Decides a write of a Secret, Role or RoleBinding by the policies that match its namespace.
import type { Budget, Circumstances } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compiled-policy.ts';
import { defaultOwners } from '../compile/default-owners.ts';
import { judge, matchErrorFinding } from './judge.ts';
import { matchNamespace } from '../terms/match.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';
import { rulesFor } from '../compile/rules-for.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { nothingToDecide, type Decision, type Finding } from '../terms/verdict.ts';

export function decideNamespaced(
  review: Review,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): Decision {
  const namespaceObject = snapshot.namespace(review.namespace);
  if (review.operation === 'DELETE' || namespaceObject === undefined) return nothingToDecide;
  const findings: Finding[] = [];
  const matching = matchingPolicies(review, namespaceObject, snapshot, budget, findings);
  const ownerOf = defaultOwners('secrets', matching, review.namespace, now);
  const isComplete = matching.every((policy) => {
    const context = {
      review,
      now,
      namespaceObject,
      matchesNew: true,
      matchedOld: review.oldObject !== undefined,
      actions: policy.actions,
      countOthers: () => 0,
      ownsDefault: ownerOf(policy),
    };
    return judge(policy, rulesFor(policy, review), context, budget, findings);
  });
  const policies = matching.map(({ name }) => name);
  return { ...nothingToDecide, findings, policies, overBudget: !isComplete || budget.isSpent() };
}

/** Those with rules for the object; a match that errors becomes a finding. */
function matchingPolicies(
  review: Review,
  namespaceObject: KubeObject,
  snapshot: ClusterSnapshot,
  budget: Budget,
  findings: Finding[],
): readonly CompiledPolicy[] {
  return snapshot.policies.candidates(review.resource, [namespaceObject]).filter((policy) => {
    // A budget that is spent stays spent: what is passed over here is refused in the end.
    if (budget.isSpent() || rulesFor(policy, review).length === 0) return false;
    const matches = matchNamespace(policy.match, namespaceObject, budget);
    if (matches.kind === 'error') findings.push(matchErrorFinding(policy, matches));
    return matches.kind === 'yes';
  });
}
