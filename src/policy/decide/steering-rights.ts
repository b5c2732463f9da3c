// Lists the rights that a write of a Namespace needs, because it changes which providers match it.
import type { Budget } from '../terms/budget.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';
import type { OwnsDefault } from '../rules/rule.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import {
  policyTarget,
  shareTarget,
  steeringEffect,
  steeringRight,
  steeringSides,
  withDefaultedKeys,
  type SteeringTarget,
} from './steering-effect.ts';
import type { Right } from '../terms/verdict.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';

/** A policy, and whether it matches the namespace before and after the write. */
export interface PolicyMatch {
  readonly policy: CompiledPolicy;
  readonly before: MatchResult;
  readonly after: MatchResult;
}

/** The policies that match the namespace after the write. */
export interface MatchesAfter {
  readonly matches: readonly PolicyMatch[];
  readonly policies: ReadonlySet<CompiledPolicy>;
  /** Tells which defaults a policy sets, where several policies default the same key. */
  readonly ownerOf: (policy: CompiledPolicy) => OwnsDefault;
}

type Candidate = readonly [target: SteeringTarget, matchesAfter: boolean];

export interface Steering {
  readonly rights: readonly Right[];
  /** True if the write can change what the namespace contains. */
  readonly hasEffect: boolean;
}

export function steeringRights(
  reached: MatchesAfter,
  review: Review,
  after: KubeObject,
  snapshot: ClusterSnapshot,
  budget: Budget,
): Steering {
  const plain = steeringSides(review, after);
  // A default adds keys to the old side that the new side already has, so it adds no further candidates.
  const candidates = candidatesFor([plain.before, after], reached, snapshot, budget);
  if (candidates.length === 0) return { rights: [], hasEffect: false };
  const setters = reached.matches.map(({ policy, before }) => ({
    policy,
    ownsDefault: reached.ownerOf(policy),
    isNew: before.kind !== 'yes',
  }));
  const sides = withDefaultedKeys(plain, setters, review);
  const rights: Right[] = [];
  // A default counts as there before, so its effect is not seen below.
  let hasEffect = sides !== plain;
  for (const [target, matchesAfter] of candidates) {
    if (budget.isSpent()) break;
    const effect = steeringEffect(target, matchesAfter, sides, budget);
    if (effect === undefined) continue;
    hasEffect = true;
    const right = steeringRight(target, effect, sides, review);
    if (right !== undefined) rights.push(right);
  }
  return { rights, hasEffect };
}

function candidatesFor(
  sides: readonly [before: KubeObject, after: KubeObject],
  reached: MatchesAfter,
  snapshot: ClusterSnapshot,
  budget: Budget,
): readonly Candidate[] {
  const [, after] = sides;
  const policies = snapshot.policies
    .candidates('namespaces', sides)
    .map((policy): Candidate => [policyTarget(policy), reached.policies.has(policy)]);
  const shares = snapshot.shares
    .candidates(sides)
    .map((share): Candidate => [
      shareTarget(share),
      matchNamespace(share.match, after, budget).kind === 'yes',
    ]);
  // A provider that is being deleted provides nothing, and its objects are removed whatever this write does.
  return [...policies, ...shares].filter(
    ([{ provider, isWorthReaching }, matchesAfter]) =>
      (!matchesAfter || isWorthReaching) && snapshot.providers.get(provider.id)?.isDeleting !== true,
  );
}
