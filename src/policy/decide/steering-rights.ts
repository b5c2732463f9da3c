// Lists the rights that a write of a Namespace needs, because it changes which providers match it.
import type { Budget, Circumstances } from '../terms/budget.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Review, Right } from '../terms/review.ts';
import type { OwnsDefault } from '../../rules/rule.ts';
import {
  namespaceOfProvider,
  shortName,
  kindOfKey,
  nameOfKey,
  type ObjectKey,
  shownProvider,
} from '../terms/provider-id.ts';
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
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { isDeepStrictEqual } from 'node:util';
import { desired, type Desired, type Claim } from '../desired/desired.ts';

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

// Words what a write of a Namespace adds to its contents, changes in them and removes from them.

/** Removals come first, because warnings beyond the limit are cut. */
export function contentsNotices(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): readonly string[] {
  // A user who creates or deletes a namespace expects this of its contents. A user who changes a label may not.
  if (before === undefined || after === undefined) return [];
  const old = desired(before, snapshot, now, budget);
  const wanted = desired(after, snapshot, now, budget);
  return [
    ...[...old.claims.keys()].flatMap((key) => removalNotice(key, old, wanted, snapshot)),
    ...fieldsNotices(old, wanted, (isKept) => (isKept ? '' : 'no longer provides')),
    ...[...wanted.claims.keys()].flatMap((key) => additionNotice(key, old, wanted)),
    ...fieldsNotices(wanted, old, (wasThere) => (wasThere ? 'changes' : 'now provides')),
  ];
}

function removalNotice(
  key: ObjectKey,
  old: Desired,
  wanted: Desired,
  { providers }: ClusterSnapshot,
): readonly string[] {
  const provider = winnerOf(key, old)?.provider;
  // A suspended provider removes nothing, and neither does one whose match or template has an error.
  if (provider === undefined || wanted.claims.has(key)) return [];
  if (old.frozen.has(provider) || wanted.frozen.has(provider)) return [];
  if (providers.get(provider)?.deletionPolicy === 'Orphan')
    return [`${shownProvider(provider)} leaves ${objectText(key)} behind here: its deletionPolicy is Orphan`];
  return [`${shownProvider(provider)} no longer provides ${objectText(key)} here`];
}

function additionNotice(key: ObjectKey, old: Desired, wanted: Desired): readonly string[] {
  const [before, after] = [winnerOf(key, old), winnerOf(key, wanted)];
  if (after === undefined || wanted.frozen.has(after.provider)) return [];
  const { provider } = after;
  if (before === undefined) return [`${shownProvider(provider)} now provides ${objectText(key)} here`];
  if (before.provider !== provider)
    return [
      `${shownProvider(provider)} now provides ${objectText(key)} here, instead of ${shownProvider(before.provider)}`,
    ];
  if (isDeepStrictEqual(before.content, after.content)) return [];
  return [`${shownProvider(provider)} changes ${objectText(key)} here`];
}

/** Lists the ServiceAccounts whose fields `one` and `other` want differently. A provider with an error changes nothing. */
function fieldsNotices(
  one: Desired,
  other: Desired,
  verbOf: (isInOther: boolean) => string,
): readonly string[] {
  return [...one.fields].flatMap(([key, claims]) =>
    claims.flatMap(({ provider, content }) => {
      if ([one, other].some(({ frozen }) => frozen.has(provider))) return [];
      const same = other.fields.get(key)?.find((each) => each.provider === provider);
      const verb = isDeepStrictEqual(same?.content, content) ? '' : verbOf(same !== undefined);
      return verb === '' ? [] : [`${shownProvider(provider)} ${verb} fields of ${objectText(key)} here`];
    }),
  );
}

function winnerOf(key: ObjectKey, { claims }: Desired): Claim | undefined {
  return claims.get(key)?.[0];
}

function objectText(key: ObjectKey): string {
  return `${kindOfKey(key)} ${nameOfKey(key)}`;
}
