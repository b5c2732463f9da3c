// Decides a write or a deletion of a Namespace: the rules of every policy that matches it before or after, and steering.
import { isDeepStrictEqual } from 'node:util';
import type { Circumstances } from './budget.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import { isExcepted } from './exceptions.ts';
import { judge, matchErrorFinding, type Judgement } from './judge.ts';
import { matchNamespace, type MatchResult } from './match.ts';
import { annotationsOf, isSameMap, labelsOf, type MetadataField } from './metadata.ts';
import type { KubeObject, Review } from './review.ts';
import type { StepContext } from './rule.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { asStored, isWorthReaching, steeringRight, steeringSides, withDefaultedKeys } from './steering.ts';
import { nothingToDecide, type Decision, type Finding, type UseRight } from './verdict.ts';

interface Matched {
  readonly policy: CompiledPolicy;
  readonly before: MatchResult;
  readonly after: MatchResult;
}

const no: MatchResult = { kind: 'no' };

export function decideNamespace(
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  const { object, oldObject } = review;
  if (object !== undefined && oldObject !== undefined && isSameMetadata(oldObject, object))
    return nothingToDecide;
  const after = object === undefined ? undefined : asStored(object);
  const before = oldObject === undefined ? undefined : asStored(oldObject);
  const matched = matchAll(snapshot, before, after, circumstances);
  const rules = judgeAll(matched, review, snapshot, circumstances);
  const steering =
    after === undefined
      ? { rights: [], overBudget: false }
      : steeringOf(matched, review, after, snapshot, circumstances);
  return {
    findings: rules.findings,
    rights: steering.rights,
    policies: matched
      .filter((each) => each.after.kind === 'yes' || each.before.kind === 'yes')
      .map(({ policy }) => policy.name),
    overBudget: rules.overBudget || steering.overBudget,
  };
}

/** Rules and steering look at labels, annotations and owners only, whichever subresource writes them. */
function isSameMetadata(a: KubeObject, b: KubeObject): boolean {
  return (
    isSameMap(labelsOf(a), labelsOf(b)) &&
    isSameMap(annotationsOf(a), annotationsOf(b)) &&
    isDeepStrictEqual(a.metadata.ownerReferences ?? [], b.metadata.ownerReferences ?? [])
  );
}

function matchAll(
  snapshot: ClusterSnapshot,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  { budget }: Circumstances,
): readonly Matched[] {
  const objects = [before, after].filter((object) => object !== undefined);
  const matched: Matched[] = [];
  for (const policy of snapshot.policies.candidates('namespaces', objects)) {
    // What is left out here is not passed over: the budget stays spent, and the rules report it.
    if (budget.isSpent()) break;
    matched.push({
      policy,
      before: before === undefined ? no : matchNamespace(policy.match, before),
      after: after === undefined ? no : matchNamespace(policy.match, after),
    });
  }
  return matched;
}

function judgeAll(
  matched: readonly Matched[],
  review: Review,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Judgement {
  const findings: Finding[] = [];
  const ownsDefault = defaultOwners(matched, review, circumstances.now);
  for (const each of matched) {
    const judgement = judgeOne(each, review, snapshot, circumstances, ownsDefault);
    findings.push(...judgement.findings);
    if (judgement.overBudget) return { findings, overBudget: true };
  }
  return { findings, overBudget: circumstances.budget.isSpent() };
}

function judgeOne(
  { policy, before, after }: Matched,
  review: Review,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
  ownsDefault: (policy: string, field: MetadataField, key: string) => boolean,
): Judgement {
  const namespaceObject = review.object ?? review.oldObject;
  if (namespaceObject === undefined || (before.kind === 'no' && after.kind === 'no')) {
    return { findings: [], overBudget: false };
  }
  const contextIf = (matchedOld: boolean): StepContext => ({
    review,
    snapshot,
    now,
    namespaceObject,
    matchesNew: after.kind === 'yes',
    matchedOld,
    actions: policy.actions,
    isMatched: (other) => isCounted(policy, other, snapshot),
    ownsDefault: (field, key) => ownsDefault(policy.name, field, key),
  });
  if (after.kind === 'error') return { findings: [matchErrorFinding(policy, after)], overBudget: false };
  const judged = judge(
    policy,
    policy.namespaceRules,
    contextIf(before.kind === 'yes'),
    review.namespace,
    budget,
  );
  if (before.kind !== 'error' || after.kind === 'yes') return judged;
  // Nobody knows whether the policy protected the old object; that matters only if it would now refuse.
  const ifMatched = judge(policy, policy.namespaceRules, contextIf(true), review.namespace, budget);
  if (ifMatched.findings.length === 0) return ifMatched;
  return { findings: [matchErrorFinding(policy, before)], overBudget: ifMatched.overBudget };
}

function isCounted(policy: CompiledPolicy, other: KubeObject, { policies }: ClusterSnapshot): boolean {
  return (
    !policies.isExcluded(other.metadata.name ?? '') && matchNamespace(policy.match, other).kind === 'yes'
  );
}

/** The first matching policy by name that sets a default owns it. */
function defaultOwners(
  matched: readonly Matched[],
  review: Review,
  now: Date,
): (policy: string, field: MetadataField, key: string) => boolean {
  const owners = new Map<string, string>();
  for (const { policy, after } of matched) {
    if (after.kind !== 'yes' || isExcepted(policy.exceptions, 'namespaces.defaults', review.namespace, now))
      continue;
    for (const { field, key } of policy.namespaceDefaults) {
      const id = `${field} ${key}`;
      if (!owners.has(id)) owners.set(id, policy.name);
    }
  }
  return (policy, field, key) => owners.get(`${field} ${key}`) === policy;
}

function steeringOf(
  matched: readonly Matched[],
  review: Review,
  after: KubeObject,
  snapshot: ClusterSnapshot,
  { budget }: Circumstances,
): { readonly rights: readonly UseRight[]; readonly overBudget: boolean } {
  const matchingAfter = matched.filter((each) => each.after.kind === 'yes').map(({ policy }) => policy);
  const plain = steeringSides({ ...review, ...storedOld(review) }, after);
  // What a default adds to the old side stands on the new one already, so no further policy can come into question.
  const concerned = snapshot.policies
    .candidates('namespaces', [plain.before, after])
    .filter((policy) => !matchingAfter.includes(policy) || isWorthReaching(policy));
  if (concerned.length === 0) return { rights: [], overBudget: false };
  const sides = withDefaultedKeys(plain, matchingAfter, review);
  const rights: UseRight[] = [];
  for (const policy of concerned) {
    if (budget.isSpent()) return { rights, overBudget: true };
    const right = steeringRight(policy, matchingAfter.includes(policy), sides, review);
    if (right !== undefined) rights.push(right);
  }
  return { rights, overBudget: false };
}

function storedOld({ oldObject }: Review): Pick<Review, 'oldObject'> {
  return oldObject === undefined ? {} : { oldObject: asStored(oldObject) };
}
