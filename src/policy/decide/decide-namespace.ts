// Decides a write or deletion of a Namespace by the policies that match it before or after, and by steering.
import { isDeepStrictEqual } from 'node:util';
import type { Budget, Circumstances } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { contentsNotices } from './contents-notices.ts';
import { byEffect, withReports } from './reporting-policies.ts';
import { steeringSides } from './steering-effect.ts';
import { SteeringReview, type MatchesAfter, type PolicyMatch, type Steering } from './steering-rights.ts';
import { defaultOwners } from '../compile/applicable-rules.ts';
import { judge, matchErrorViolation, withoutConsequences, type JudgeContext } from './judge.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import {
  annotationsOf,
  isSameMap,
  isTerminating,
  labelsOf,
  nameOf,
  valueOf,
  type KubeObject,
} from '../../base/metadata.ts';
import type { Review } from '../terms/review.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { asStored } from './stored-namespace.ts';
import { nothingToDecide, type Decision, type JudgedViolation } from '../terms/verdict.ts';

const no: MatchResult = { kind: 'no' };
/** For a label of another namespace that a quota compares. */
const countingUnits = 0.5;

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
  return decideWrite({ review, before, after, isSame }, snapshot, circumstances);
}

/** A write, with both sides as the API server stores them. */
interface NamespaceWrite {
  readonly review: Review;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
  /** True if labels, annotations and owners stay the same. */
  readonly isSame: boolean;
}

function decideWrite(
  { review, before, after, isSame }: NamespaceWrite,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  const { budget } = circumstances;
  const stored = before === undefined ? review : { ...review, oldObject: before };
  const sides = after === undefined ? undefined : steeringSides(stored, after);
  const objects = [sides?.before ?? before, after].filter((each) => each !== undefined);
  const { deciding, reporting } = byEffect(snapshot.policies.candidates('namespaces', objects));
  const matches = matchAll(deciding, before, after, budget);
  const reached = matchesAfter(matches, review.namespace, circumstances.now);
  const steering = sides === undefined ? undefined : new SteeringReview(sides, reached, stored);
  // Rules read labels, annotations and owners. Steering depends on all that a policy matches by or renders.
  const judged = (each: readonly PolicyMatch[]): readonly JudgedViolation[] =>
    isSame ? [] : judgeAll(each, reached, review, snapshot, circumstances);
  const violations = judged(matches);
  const { rights, hasEffect } = steering?.rights(deciding, snapshot, budget) ?? noSteering;
  const decision = {
    ...nothingToDecide,
    violations,
    rights,
    notices: hasEffect ? contentsNotices(before, after, snapshot, circumstances) : [],
    policies: matches.filter(isMatched).map(({ policy }) => policy.name),
    // A spent budget stays spent, so one check covers all steps so far.
    overBudget: budget.isSpent(),
  };
  return withReports(decision, reporting, budget, (policy) => {
    const match = matchOne(policy, before, after, budget);
    const toLeave = steering?.rightToLeave(match, snapshot, budget) ?? [];
    return { isMatched: isMatched(match), violations: judged([match]), rights: toLeave };
  });
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
  policies: readonly CompiledPolicy[],
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  budget: Budget,
): readonly PolicyMatch[] {
  const matches: PolicyMatch[] = [];
  for (const policy of policies) {
    if (budget.isSpent()) break;
    matches.push(matchOne(policy, before, after, budget));
  }
  return matches;
}

function matchOne(
  policy: CompiledPolicy,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  budget: Budget,
): PolicyMatch {
  budget.charge?.(policy.name);
  return {
    policy,
    before: before === undefined ? no : matchNamespace(policy.match, before, budget),
    after: after === undefined ? no : matchNamespace(policy.match, after, budget),
  };
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
  { now, budget, trace }: Circumstances,
): Omit<JudgeContext, 'ownsDefault'> | undefined {
  const namespaceObject = review.object ?? review.oldObject;
  if (namespaceObject === undefined || (before.kind === 'no' && after.kind === 'no')) return undefined;
  return {
    review,
    now,
    budget,
    trace,
    namespaceObject,
    matchesNew: after.kind === 'yes',
    matchedOld: before.kind === 'yes',
    actions: policy.actions,
    countOthers: (label, value, max) => {
      const isCounted = (other: KubeObject): boolean => {
        budget.spend(countingUnits);
        return (
          valueOf(labelsOf(other), label) === value &&
          !budget.isSpent() &&
          nameOf(other) !== review.name &&
          isLiving(policy, other, snapshot, budget)
        );
      };
      return countUpTo(max, snapshot.namespaces(), isCounted);
    },
  };
}

/** Adds to `violations`. Returns false when the budget ran out. */
function judgeOne(
  { policy, before, after }: PolicyMatch,
  context: JudgeContext,
  violations: JudgedViolation[],
): boolean {
  if (after.kind === 'error') {
    violations.push(matchErrorViolation(policy, after));
    return true;
  }
  if (before.kind !== 'error' || after.kind === 'yes') {
    return judge(policy, policy.rules.namespaces, context, violations);
  }
  // An error hides whether the policy matched the old namespace. That matters only if a match would lead to a violation.
  const ifMatched: JudgedViolation[] = [];
  const isComplete = judge(
    policy,
    policy.rules.namespaces,
    { ...context, matchedOld: true, trace: undefined },
    ifMatched,
  );
  if (ifMatched.length > 0) violations.push(matchErrorViolation(policy, before));
  return isComplete;
}

function isLiving(
  policy: CompiledPolicy,
  other: KubeObject,
  { policies }: ClusterSnapshot,
  budget: Budget,
): boolean {
  return (
    !isTerminating(other) &&
    !policies.isExcluded(nameOf(other)) &&
    matchNamespace(policy.match, other, budget).kind === 'yes'
  );
}

function countUpTo<T>(max: number, items: Iterable<T>, isCounted: (item: T) => boolean): number {
  let count = 0;
  for (const item of items) {
    if (count >= max) break;
    if (isCounted(item)) count += 1;
  }
  return count;
}
