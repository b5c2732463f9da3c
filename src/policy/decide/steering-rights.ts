// Finds the rights that a write of a Namespace needs: for each policy and share that it steers the namespace into or out of.
import type { Budget } from '../terms/budget.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Review } from '../terms/review.ts';
import type { OwnsDefault } from '../rules/rule.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import {
  policyTarget,
  shareTarget,
  steeringRight,
  steeringSides,
  withDefaultedKeys,
  type SteeringTarget,
} from './steering.ts';
import type { Right } from '../terms/verdict.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';

/** A policy, and whether it matches the namespace before and after the write. */
export interface Matched {
  readonly policy: CompiledPolicy;
  readonly before: MatchResult;
  readonly after: MatchResult;
}

/** The policies that match what is written, and which of them sets which default. */
export interface Reached {
  readonly matched: readonly Matched[];
  readonly policies: ReadonlySet<CompiledPolicy>;
  readonly ownerOf: (policy: CompiledPolicy) => OwnsDefault;
}

/** What the write must have a right to: each with whether it matches the namespace afterwards. */
type Concerned = readonly [target: SteeringTarget, matchesAfter: boolean];

export function steeringOf(
  reached: Reached,
  review: Review,
  after: KubeObject,
  snapshot: ClusterSnapshot,
  budget: Budget,
): readonly Right[] {
  const plain = steeringSides(review, after);
  // What a default adds to the old side stands on the new one already, so nothing further can come into question.
  const concerned = concernedBy([plain.before, after], reached, snapshot, budget);
  if (concerned.length === 0) return [];
  const setters = reached.matched.map(({ policy, before }) => ({
    policy,
    ownsDefault: reached.ownerOf(policy),
    isNew: before.kind !== 'yes',
  }));
  const sides = withDefaultedKeys(plain, setters, review);
  const rights: Right[] = [];
  for (const [target, matchesAfter] of concerned) {
    if (budget.isSpent()) break;
    const right = steeringRight(target, matchesAfter, sides, review, budget);
    if (right !== undefined) rights.push(right);
  }
  return rights;
}

function concernedBy(
  sides: readonly [before: KubeObject, after: KubeObject],
  reached: Reached,
  snapshot: ClusterSnapshot,
  budget: Budget,
): readonly Concerned[] {
  const [, after] = sides;
  const policies = snapshot.policies
    .candidates('namespaces', sides)
    .map((policy): Concerned => [policyTarget(policy), reached.policies.has(policy)]);
  const shares = snapshot.shares
    .candidates(sides)
    .map((share): Concerned => [
      shareTarget(share),
      matchNamespace(share.match, after, budget).kind === 'yes',
    ]);
  // What is being deleted provides nothing any more, and its objects go whatever becomes of the namespace.
  return [...policies, ...shares].filter(
    ([{ provider, isWorthReaching }, matchesAfter]) =>
      (!matchesAfter || isWorthReaching) && snapshot.owners.get(provider.id)?.isDeleting !== true,
  );
}
