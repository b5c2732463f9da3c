// Decides a validating review: which rules the write violates, and which rights the user needs for it.
import type { Budget, Circumstances } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { decideNamespace } from './decide-namespace.ts';
import { defaultOwners, rulesFor } from '../compile/applicable-rules.ts';
import { judge, matchErrorViolation } from './judge.ts';
import { byEffect, withReports } from './reporting-policies.ts';
import { matchNamespace } from '../terms/match.ts';
import { nothingToDecide, type Decision, type JudgedViolation } from '../terms/verdict.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Review } from '../terms/review.ts';

export function decide(review: Review, snapshot: ClusterSnapshot, circumstances: Circumstances): Decision {
  if (snapshot.policies.isExcluded(review.namespace)) return nothingToDecide;
  return review.resource === 'namespaces'
    ? decideNamespace(review, snapshot, circumstances)
    : decideNamespaced(review, snapshot, circumstances);
}

/** Decides a write of a Secret, Role or RoleBinding by the policies that match its namespace. */
function decideNamespaced(
  review: Review,
  snapshot: ClusterSnapshot,
  { now, budget, trace }: Circumstances,
): Decision {
  const namespaceObject = snapshot.namespace(review.namespace);
  if (review.operation === 'DELETE' || namespaceObject === undefined) return nothingToDecide;
  const candidates = snapshot.policies.candidates(review.resource, [namespaceObject]);
  const { deciding, reporting } = byEffect(candidates);
  const violations: JudgedViolation[] = [];
  const matching = matchingPolicies(deciding, review, namespaceObject, budget, violations);
  const ownerOf = defaultOwners('secrets', matching, review.namespace, now);
  const judgeOne = (policy: CompiledPolicy, found: JudgedViolation[]): boolean => {
    const context = {
      review,
      now,
      budget,
      namespaceObject,
      matchesNew: true,
      matchedOld: review.oldObject !== undefined,
      actions: policy.actions,
      countOthers: () => 0,
      ownsDefault: ownerOf(policy),
      trace,
    };
    return judge(policy, rulesFor(policy, review), context, found);
  };
  const isComplete = matching.every((policy) => judgeOne(policy, violations));
  const policies = matching.map(({ name }) => name);
  const overBudget = !isComplete || budget.isSpent();
  const decision = { ...nothingToDecide, violations, policies, overBudget };
  return withReports(decision, reporting, budget, (policy) => {
    const reports: JudgedViolation[] = [];
    const matched = matchingPolicies([policy], review, namespaceObject, budget, reports);
    for (const each of matched) judgeOne(each, reports);
    return { isMatched: matched.length > 0, violations: reports, rights: [] };
  });
}

/** Returns the matching policies that have rules for the object. An error of a match becomes a violation. */
function matchingPolicies(
  candidates: readonly CompiledPolicy[],
  review: Review,
  namespaceObject: KubeObject,
  budget: Budget,
  violations: JudgedViolation[],
): readonly CompiledPolicy[] {
  return candidates.filter((policy) => {
    budget.charge?.(policy.name);
    // A spent budget stays spent, so a policy that is skipped here still leads to a refusal.
    if (budget.isSpent() || rulesFor(policy, review).length === 0) return false;
    const matches = matchNamespace(policy.match, namespaceObject, budget);
    if (matches.kind === 'error') violations.push(matchErrorViolation(policy, matches));
    return matches.kind === 'yes';
  });
}
