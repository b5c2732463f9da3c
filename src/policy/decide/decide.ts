// Decides a validating review: which rules the write violates, and which rights the user needs for it.
import type { Budget, Circumstances } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { enforcingOwners, keyOwners, rulesFor, type ClusterSnapshot } from '../compile/snapshot.ts';
import {
  judge,
  matchErrorViolation,
  withoutConsequences,
  type JudgeContext,
  byEffect,
  withReports,
} from './judge.ts';
import { actionsIn, matchNamespace, type MatchResult, asStored } from '../terms/match.ts';
import type { OwnsDefault } from '../../rules/rule.ts';
import { nothingToDecide, type Decision, type JudgedViolation, type Review } from '../terms/review.ts';
import {
  type KubeObject,
  annotationsOf,
  isSameMap,
  isTerminating,
  labelsOf,
  nameOf,
  valueOf,
} from '../../base/metadata.ts';
import { isDeepStrictEqual } from 'node:util';
import {
  SteeringReview,
  steeringSides,
  type MatchesAfter,
  type PolicyMatch,
  type Steering,
} from './steering.ts';
import { contentsNotices } from './difference.ts';

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
  const { deciding, reporting } = byEffect(candidates, now);
  const violations: JudgedViolation[] = [];
  const matching = matchingPolicies(deciding, review, namespaceObject, { now, budget }, violations);
  const ownerOf = keyOwners('secrets.defaults', matching, review.namespace, now);
  const judgeOne = (policy: CompiledPolicy, found: JudgedViolation[]): boolean => {
    const context = {
      review,
      now,
      budget,
      namespaceObject,
      matchesNew: true,
      matchedOld: review.oldObject !== undefined,
      hasGrace: review.oldObject !== undefined,
      actions: actionsIn(policy, namespaceObject, now),
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
    const matched = matchingPolicies([policy], review, namespaceObject, { now, budget }, reports);
    for (const each of matched) judgeOne(each, reports);
    return { isMatched: matched.length > 0, violations: reports, rights: [] };
  });
}

/** Returns the matching policies that have rules for the object. An error of a match becomes a violation. */
function matchingPolicies(
  candidates: readonly CompiledPolicy[],
  review: Review,
  namespaceObject: KubeObject,
  { now, budget }: Circumstances,
  violations: JudgedViolation[],
): readonly CompiledPolicy[] {
  return candidates.filter((policy) => {
    budget.charge?.(policy.name);
    // A spent budget stays spent, so a policy that is skipped here still leads to a refusal.
    if (budget.isSpent() || rulesFor(policy, review).length === 0) return false;
    const matches = matchNamespace(policy.match, namespaceObject, budget);
    if (matches.kind === 'error')
      violations.push(matchErrorViolation(policy, matches, actionsIn(policy, namespaceObject, now)));
    return matches.kind === 'yes';
  });
}

// Decides a write or deletion of a Namespace by the policies that match it before or after, and by steering.

const no: MatchResult = { kind: 'no' };
/** The price of the label of another namespace, which a quota compares. */
const countingUnits = 0.5;

const noSteering: Steering = { rights: [], hasEffect: false };

function decideNamespace(review: Review, snapshot: ClusterSnapshot, circumstances: Circumstances): Decision {
  const { object, oldObject } = review;
  const isSame = object !== undefined && oldObject !== undefined && isSameMetadata(oldObject, object);
  // A controller must be able to finish the deletion by removing finalizers, and a terminating namespace gets nothing.
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
  write: NamespaceWrite,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  const { review, before, after, isSame } = write;
  const { budget } = circumstances;
  const stored = before === undefined ? review : { ...review, oldObject: before };
  const sides = after === undefined ? undefined : steeringSides(stored, after);
  const objects = [sides?.before ?? before, after].filter((each) => each !== undefined);
  const { deciding, reporting } = byEffect(
    snapshot.policies.candidates('namespaces', objects),
    circumstances.now,
  );
  const matches = matchAll(deciding, before, after, budget);
  const reached = matchesAfter(matches, after, circumstances.now);
  const steering =
    sides === undefined ? undefined : new SteeringReview(sides, reached, stored, circumstances);
  // Rules read labels, annotations and owners. Steering depends on all fields that a policy matches by or renders.
  const judged = (each: readonly PolicyMatch[]): readonly JudgedViolation[] =>
    isSame ? [] : judgeAll(each, reached, write, snapshot, circumstances);
  const violations = judged(matches);
  const { rights, hasEffect } = steering?.rights(deciding, snapshot) ?? noSteering;
  const decision = {
    ...nothingToDecide,
    violations,
    rights,
    // A user who creates or deletes a namespace expects the change of its contents. A user who changes a label may not.
    notices:
      hasEffect && before !== undefined && after !== undefined
        ? contentsNotices(before, after, snapshot, circumstances)
        : [],
    policies: matches.filter(isMatched).map(({ policy }) => policy.name),
    // A spent budget stays spent, so one check covers all steps so far.
    overBudget: budget.isSpent(),
  };
  return withReports(decision, reporting, budget, (policy) => {
    const match = matchOne(policy, before, after, budget);
    const toLeave = steering?.rightToLeave(match, snapshot) ?? [];
    return { isMatched: isMatched(match), violations: judged([match]), rights: toLeave };
  });
}

function matchesAfter(
  all: readonly PolicyMatch[],
  namespaceObject: KubeObject | undefined,
  now: Date,
): MatchesAfter {
  const matches = all.filter(({ after }) => after.kind === 'yes');
  const policies = matches.map(({ policy }) => policy);
  const after = namespaceObject ?? { metadata: {} };
  return {
    matches,
    policies: new Set(policies),
    ownerOf: keyOwners('namespaces.defaults', policies, nameOf(after), now),
    enforcerOf: enforcingOwners(policies, after, now),
  };
}

/** Compares labels, annotations and owners, because a write of any subresource can change them. */
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
  { ownerOf, enforcerOf }: MatchesAfter,
  write: NamespaceWrite,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): readonly JudgedViolation[] {
  const violations: JudgedViolation[] = [];
  for (const each of matches) {
    const context = contextOf(each, write, snapshot, circumstances);
    if (context === undefined) continue;
    const enforces = enforcerOf(each.policy);
    const isOverruled: OwnsDefault = (field, key) =>
      context.actions.includes('Deny') && !enforces(field, key);
    const owning = { ...context, ownsDefault: ownerOf(each.policy), isOverruled };
    if (!judgeNamespaceRules(each, owning, violations)) break;
  }
  return withoutConsequences(violations);
}

/** Returns undefined for a policy that matches neither before nor after the write. */
function contextOf(
  match: PolicyMatch,
  write: NamespaceWrite,
  snapshot: ClusterSnapshot,
  { now, budget, trace }: Circumstances,
): Omit<JudgeContext, 'ownsDefault'> | undefined {
  const { policy, before, after } = match;
  const { review } = write;
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
    ...enforced(match, write, now),
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

/** An override can take other actions before the write than after it. Where the policy does not match the new side, the old side counts. */
function enforced(
  { policy, before, after }: PolicyMatch,
  write: NamespaceWrite,
  now: Date,
): Pick<JudgeContext, 'actions' | 'hasGrace'> {
  const [old, next] = [write.before, write.after].map((each) =>
    each === undefined ? undefined : actionsIn(policy, each, now),
  );
  const hasGrace =
    before.kind === 'yes' && (old?.includes('Deny') === true || next?.includes('Deny') !== true);
  if (old === undefined || next === undefined) return { actions: old ?? next ?? policy.actions, hasGrace };
  // With an error, nothing says that the policy does not match.
  const isOld = after.kind === 'no' || (after.kind === 'error' && old.includes('Deny'));
  return { actions: isOld ? old : next, hasGrace };
}

/** Adds to `violations`. Returns false once the budget is spent. */
function judgeNamespaceRules(
  { policy, before, after }: PolicyMatch,
  context: JudgeContext,
  violations: JudgedViolation[],
): boolean {
  if (after.kind === 'error') {
    violations.push(matchErrorViolation(policy, after, context.actions));
    return true;
  }
  if (before.kind !== 'error' || after.kind === 'yes') {
    return judge(policy, policy.rules.namespaces, context, violations);
  }
  // An error hides whether the policy matched the old namespace. This matters only if a match would lead to a violation.
  const ifMatched: JudgedViolation[] = [];
  const isComplete = judge(
    policy,
    policy.rules.namespaces,
    { ...context, matchedOld: true, hasGrace: true, trace: undefined },
    ifMatched,
  );
  if (ifMatched.length > 0) violations.push(matchErrorViolation(policy, before, context.actions));
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
