// Lists the rights that a write of a Namespace needs, because it changes which providers match it.
import type { Budget } from '../terms/budget.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Review } from '../terms/review.ts';
import type { OwnsDefault } from '../../rules/rule.ts';
import { namespaceOfProvider, shortName } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import {
  policyTarget,
  shareTarget,
  steeringEffect,
  steeringRight,
  withDefaultedKeys,
  type DefaultSetter,
  type SteeringSides,
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

/** Compares the two sides of one write. It finds the defaulted keys when it is first asked. */
export class SteeringReview {
  readonly #plain: SteeringSides;
  readonly #reached: MatchesAfter;
  readonly #review: Review;
  #sides: SteeringSides | undefined;

  constructor(plain: SteeringSides, reached: MatchesAfter, review: Review) {
    this.#plain = plain;
    this.#reached = reached;
    this.#review = review;
  }

  /** `policies` can match one of the sides. A default adds keys that the new side already has, so no further policy can. */
  rights(policies: readonly CompiledPolicy[], snapshot: ClusterSnapshot, budget: Budget): Steering {
    const sides = [this.#plain.before, this.#plain.after] as const;
    return this.#rights(candidatesFor(policies, sides, this.#reached, snapshot, budget), budget);
  }

  /** For a policy that only reports: leaving it is all that needs a right. */
  rightToLeave(
    { policy, after }: PolicyMatch,
    { providers }: ClusterSnapshot,
    budget: Budget,
  ): readonly Right[] {
    const target = policyTarget(policy);
    if (after.kind === 'yes' || isDeleting(target, providers)) return [];
    return this.#rights([[target, false]], budget).rights;
  }

  #rights(candidates: readonly Candidate[], budget: Budget): Steering {
    if (candidates.length === 0) return { rights: [], hasEffect: false };
    this.#sides ??= withDefaultedKeys(this.#plain, this.#setters(), this.#review, budget);
    return rightsOf(candidates, this.#sides, this.#sides !== this.#plain, this.#review, budget);
  }

  #setters(): readonly DefaultSetter[] {
    const { matches, ownerOf } = this.#reached;
    return matches.map(({ policy, before }) => ({
      policy,
      ownsDefault: ownerOf(policy),
      isNew: before.kind !== 'yes',
    }));
  }
}

/** `hasDefaults`: a default counts as there before, so the loop does not see its effect. */
// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function rightsOf(
  candidates: readonly Candidate[],
  sides: SteeringSides,
  hasDefaults: boolean,
  review: Review,
  budget: Budget,
): Steering {
  const rights: Right[] = [];
  let hasEffect = hasDefaults;
  for (const [target, matchesAfter] of candidates) {
    budget.charge?.(shortName(target.provider.id));
    if (budget.isSpent()) break;
    const effect = steeringEffect(target, matchesAfter, sides, budget);
    if (effect === undefined) continue;
    hasEffect = true;
    const right = steeringRight(target, effect, sides, review);
    if (right !== undefined) rights.push(right);
  }
  return { rights, hasEffect };
}

// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function candidatesFor(
  candidates: readonly CompiledPolicy[],
  sides: readonly [before: KubeObject, after: KubeObject],
  reached: MatchesAfter,
  snapshot: ClusterSnapshot,
  budget: Budget,
): readonly Candidate[] {
  const [, after] = sides;
  // A tenant's binding matches by the name of its namespace and has no templates, so no label can steer it.
  const steerable = candidates.filter(({ id }) => namespaceOfProvider(id) === undefined);
  const policies = steerable.map((policy): Candidate => [policyTarget(policy), reached.policies.has(policy)]);
  const shares = snapshot.shares
    .candidates(sides)
    .map((share): Candidate => [
      shareTarget(share),
      matchNamespace(share.match, after, budget).kind === 'yes',
    ]);
  return [...policies, ...shares].filter(
    ([target, matchesAfter]) =>
      (!matchesAfter || target.isWorthReaching) && !isDeleting(target, snapshot.providers),
  );
}

/** A provider that is being deleted provides nothing, and its objects are removed whatever this write does. */
function isDeleting({ provider }: SteeringTarget, providers: ClusterSnapshot['providers']): boolean {
  return providers.get(provider.id)?.isDeleting === true;
}
