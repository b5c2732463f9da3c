// Decides a write or deletion of a Namespace by the policies that match it before or after, and by steering.
import { isDeepStrictEqual } from 'node:util';
import type { Budget, Circumstances } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { contentsNotices } from './contents-notices.ts';
import { steeringRights, type MatchesAfter, type PolicyMatch, type Steering } from './steering-rights.ts';
import { defaultOwners } from '../compile/applicable-rules.ts';
import { judge, matchErrorViolation, withoutConsequences } from './judge.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import { annotationsOf, isSameMap, isTerminating, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';
import type { StepContext } from '../rules/rule.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { asStored } from './stored-namespace.ts';
import { nothingToDecide, type Decision, type JudgedViolation } from '../terms/verdict.ts';

const no: MatchResult = { kind: 'no' };
const noSteering: Steering = { rights: [], hasEffect: false };

export function decideNamespace(
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  const { object, oldObject } = review;
  const isSame = object !== undefined && oldObject !== undefined && isSameMetadata(oldObject, object);
  // A controller that removes finalizers must be able to finish the deletion, and a terminating namespace gets nothing.
  if (isSame && isTerminating(oldObject)) return nothingToDecide;
  const after = object === undefined ? undefined : asStored(object);
  const before = oldObject === undefined ? undefined : asStored(oldObject);
  const { budget } = circumstances;
  const matches = matchAll(snapshot, before, after, budget);
  const reached = matchesAfter(matches, review.namespace, circumstances.now);
  // Rules read labels, annotations and owners. Steering depends on all that a policy matches by or renders.
  const violations = isSame ? [] : judgeAll(matches, reached, review, snapshot, circumstances);
  const stored = before === undefined ? review : { ...review, oldObject: before };
  const { rights, hasEffect } =
    after === undefined ? noSteering : steeringRights(reached, stored, after, snapshot, budget);
  return {
    violations,
    rights,
    ownRights: [],
    notices: hasEffect ? contentsNotices(before, after, snapshot, circumstances) : [],
    policies: matches.filter(isMatched).map(({ policy }) => policy.name),
    // A spent budget stays spent, so one check at the end covers all steps.
    overBudget: budget.isSpent(),
  };
}

function matchesAfter(all: readonly PolicyMatch[], namespace: string, now: Date): MatchesAfter {
  const matches = all.filter(({ after }) => after.kind === 'yes');
  const policies = matches.map(({ policy }) => policy);
  return {
    matches,
    policies: new Set(policies),
    ownerOf: defaultOwners('namespaces', policies, namespace, now),
  };
}

/** Compares labels, annotations and owners: a write of any subresource can change them. */
function isSameMetadata(a: KubeObject, b: KubeObject): boolean {
  return (
    isSameMap(labelsOf(a), labelsOf(b)) &&
    isSameMap(annotationsOf(a), annotationsOf(b)) &&
    isDeepStrictEqual(a.metadata.ownerReferences ?? [], b.metadata.ownerReferences ?? [])
  );
}

function isMatched({ before, after }: PolicyMatch): boolean {
  return before.kind === 'yes' || after.kind === 'yes';
}

function matchAll(
  snapshot: ClusterSnapshot,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  budget: Budget,
): readonly PolicyMatch[] {
  const objects = [before, after].filter((object) => object !== undefined);
  const matches: PolicyMatch[] = [];
  for (const policy of snapshot.policies.candidates('namespaces', objects)) {
    if (budget.isSpent()) break;
    matches.push({
      policy,
      before: before === undefined ? no : matchNamespace(policy.match, before, budget),
      after: after === undefined ? no : matchNamespace(policy.match, after, budget),
    });
  }
  return matches;
}

function judgeAll(
  matches: readonly PolicyMatch[],
  { ownerOf }: MatchesAfter,
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): readonly JudgedViolation[] {
  const violations: JudgedViolation[] = [];
  for (const each of matches) {
    const context = contextOf(each, review, snapshot, circumstances);
    if (context === undefined) continue;
    if (!judgeOne(each, { ...context, ownsDefault: ownerOf(each.policy) }, violations)) break;
  }
  return withoutConsequences(violations);
}

/** Returns undefined for a policy that matches neither before nor after the write. */
function contextOf(
  { policy, before, after }: PolicyMatch,
  review: Review,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): Omit<StepContext, 'ownsDefault'> | undefined {
  const namespaceObject = review.object ?? review.oldObject;
  if (namespaceObject === undefined || (before.kind === 'no' && after.kind === 'no')) return undefined;
  return {
    review,
    now,
    budget,
    namespaceObject,
    matchesNew: after.kind === 'yes',
    matchedOld: before.kind === 'yes',
    actions: policy.actions,
    countOthers: (label, value, max) => {
      const isCounted = (other: KubeObject): boolean =>
        valueOf(labelsOf(other), label) === value &&
        nameOf(other) !== review.name &&
        isLiving(policy, other, snapshot);
      return countUpTo(max, snapshot.namespaces(), isCounted, budget);
    },
  };
}

/** Adds to `violations`. Returns false when the budget ran out. */
function judgeOne(
  { policy, before, after }: PolicyMatch,
  context: StepContext,
  violations: JudgedViolation[],
): boolean {
  if (after.kind === 'error') {
    violations.push(matchErrorViolation(policy, after));
    return true;
  }
  if (before.kind !== 'error' || after.kind === 'yes') {
    return judge(policy, policy.namespaceRules, context, violations);
  }
  // An error hides whether the policy matched the old namespace. That matters only if a match would lead to a violation.
  const ifMatched: JudgedViolation[] = [];
  const isComplete = judge(policy, policy.namespaceRules, { ...context, matchedOld: true }, ifMatched);
  if (ifMatched.length > 0) violations.push(matchErrorViolation(policy, before));
  return isComplete;
}

function isLiving(policy: CompiledPolicy, other: KubeObject, { policies }: ClusterSnapshot): boolean {
  return (
    !isTerminating(other) &&
    !policies.isExcluded(nameOf(other)) &&
    matchNamespace(policy.match, other).kind === 'yes'
  );
}

function countUpTo<T>(
  max: number,
  items: Iterable<T>,
  isCounted: (item: T) => boolean,
  budget: Budget,
): number {
  let count = 0;
  for (const item of items) {
    if (count >= max || budget.isSpent()) break;
    if (isCounted(item)) count += 1;
  }
  return count;
}
