// Decides a write or a deletion of a Namespace: the rules of every policy that matches it before or after, and steering.
import { isDeepStrictEqual } from 'node:util';
import type { Budget, Circumstances } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { steeringOf, type Matched, type Reached } from './steering-rights.ts';
import { defaultOwners } from '../compile/applicable-rules.ts';
import { judge, matchErrorViolation } from './judge.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import { annotationsOf, isSameMap, isTerminating, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';
import type { StepContext } from '../rules/rule.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { asStored } from './steering.ts';
import { nothingToDecide, type Decision, type JudgedViolation } from '../terms/verdict.ts';

const no: MatchResult = { kind: 'no' };

export function decideNamespace(
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  const { object, oldObject } = review;
  const isSame = object !== undefined && oldObject !== undefined && isSameMetadata(oldObject, object);
  // Whoever finishes the deletion of a namespace must not be held up; there is nothing left to gain in it either.
  if (isSame && isTerminating(oldObject)) return nothingToDecide;
  const after = object === undefined ? undefined : asStored(object);
  const before = oldObject === undefined ? undefined : asStored(oldObject);
  const { budget } = circumstances;
  const matched = matchAll(snapshot, before, after, budget);
  // The rules look at labels, annotations and owners; the guard at whatever a policy matches by or renders.
  const reached = reachedBy(matched, review.namespace, circumstances.now);
  const violations = isSame ? [] : judgeAll(matched, reached, review, snapshot, circumstances);
  const stored = before === undefined ? review : { ...review, oldObject: before };
  const rights = after === undefined ? [] : steeringOf(reached, stored, after, snapshot, budget);
  return {
    violations,
    rights,
    notices: [],
    policies: matched.filter(isMatched).map(({ policy }) => policy.name),
    // Wherever the budget ran out, it stays spent, so this speaks for all steps at once.
    overBudget: budget.isSpent(),
  };
}

function reachedBy(matched: readonly Matched[], namespace: string, now: Date): Reached {
  const reached = matched.filter(({ after }) => after.kind === 'yes');
  const policies = reached.map(({ policy }) => policy);
  return {
    matched: reached,
    policies: new Set(policies),
    ownerOf: defaultOwners('namespaces', policies, namespace, now),
  };
}

/** Whichever subresource writes them. */
function isSameMetadata(a: KubeObject, b: KubeObject): boolean {
  return (
    isSameMap(labelsOf(a), labelsOf(b)) &&
    isSameMap(annotationsOf(a), annotationsOf(b)) &&
    isDeepStrictEqual(a.metadata.ownerReferences ?? [], b.metadata.ownerReferences ?? [])
  );
}

function isMatched({ before, after }: Matched): boolean {
  return before.kind === 'yes' || after.kind === 'yes';
}

function matchAll(
  snapshot: ClusterSnapshot,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  budget: Budget,
): readonly Matched[] {
  const objects = [before, after].filter((object) => object !== undefined);
  const matched: Matched[] = [];
  for (const policy of snapshot.policies.candidates('namespaces', objects)) {
    if (budget.isSpent()) break;
    matched.push({
      policy,
      before: before === undefined ? no : matchNamespace(policy.match, before, budget),
      after: after === undefined ? no : matchNamespace(policy.match, after, budget),
    });
  }
  return matched;
}

function judgeAll(
  matched: readonly Matched[],
  { ownerOf }: Reached,
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): readonly JudgedViolation[] {
  const violations: JudgedViolation[] = [];
  for (const each of matched) {
    const context = contextOf(each, review, snapshot, circumstances);
    if (context === undefined) continue;
    if (!judgeOne(each, { ...context, ownsDefault: ownerOf(each.policy) }, circumstances.budget, violations))
      break;
  }
  return violations;
}

/** Undefined where the policy has nothing to do with the namespace. */
function contextOf(
  { policy, before, after }: Matched,
  review: Review,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): Omit<StepContext, 'ownsDefault'> | undefined {
  const namespaceObject = review.object ?? review.oldObject;
  if (namespaceObject === undefined || (before.kind === 'no' && after.kind === 'no')) return undefined;
  return {
    review,
    now,
    namespaceObject,
    matchesNew: after.kind === 'yes',
    matchedOld: before.kind === 'yes',
    actions: policy.actions,
    countOthers: (label, value, enough) => {
      const isCounted = (other: KubeObject): boolean =>
        valueOf(labelsOf(other), label) === value &&
        nameOf(other) !== review.name &&
        isLiving(policy, other, snapshot);
      return countUpTo(enough, snapshot.namespaces(), isCounted, budget);
    },
  };
}

/** False when the budget ran out. */
function judgeOne(
  { policy, before, after }: Matched,
  context: StepContext,
  budget: Budget,
  violations: JudgedViolation[],
): boolean {
  if (after.kind === 'error') {
    violations.push(matchErrorViolation(policy, after));
    return true;
  }
  if (before.kind !== 'error' || after.kind === 'yes') {
    return judge(policy, policy.namespaceRules, context, budget, violations);
  }
  // Nobody knows whether the policy protected the old object; that matters only if it would now refuse.
  const ifMatched: JudgedViolation[] = [];
  const isComplete = judge(
    policy,
    policy.namespaceRules,
    { ...context, matchedOld: true },
    budget,
    ifMatched,
  );
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
  enough: number,
  items: Iterable<T>,
  isCounted: (item: T) => boolean,
  budget: Budget,
): number {
  let count = 0;
  for (const item of items) {
    if (count >= enough || budget.isSpent()) break;
    if (isCounted(item)) count += 1;
  }
  return count;
}
