// Finds which providers a write of a Namespace steers it to or away from, and lists the rights for this.
import { isDeepStrictEqual } from 'node:util';
import { type RequestersSpec, isRequester } from '../../rules/requesters.ts';
import { namespaceNameLabel, placeholderName } from '../../schema/names.ts';
import type { Budget, Circumstances } from '../terms/budget.ts';
import { policyProvider, shareProvider, type Provider } from '../desired/desired.ts';
import {
  matchNamespace,
  type CompiledMatch,
  bareNamespace,
  deniesIn,
  type Enforcement,
  type MatchResult,
  withAlternatives,
} from '../terms/match.ts';
import {
  keyPath,
  labelsOf,
  metadataMap,
  nameOf,
  valueOf,
  withMetadata,
  type MetadataField,
  type KubeObject,
} from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { namespaceOfProvider, shortName, shownProvider, useOf } from '../terms/provider-id.ts';
import type { Review, Right } from '../terms/review.ts';
import type { OwnsDefault } from '../../rules/rule.ts';
import { enforcedIn, type DefaultedKey } from './enforce.ts';
import { renderDefault } from '../../rules/default-keys.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';

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
  /** Returns which defaults a policy sets if several policies default the same key. */
  readonly ownerOf: (policy: CompiledPolicy) => OwnsDefault;
  readonly enforcerOf: (policy: CompiledPolicy) => OwnsDefault;
}

type Candidate = readonly [target: SteeringTarget, matchesAfter: boolean];

export interface Steering {
  readonly rights: readonly Right[];
  /** True if the write can change what the namespace contains. */
  readonly hasEffect: boolean;
}

/** Compares the two sides of one write. Finds the defaulted keys when they are first needed. */
export class SteeringReview {
  readonly #plain: SteeringSides;
  readonly #reached: MatchesAfter;
  readonly #review: Review;
  readonly #circumstances: Circumstances;
  #sides: SteeringSides | undefined;

  constructor(plain: SteeringSides, reached: MatchesAfter, review: Review, circumstances: Circumstances) {
    this.#plain = plain;
    this.#reached = reached;
    this.#review = review;
    this.#circumstances = circumstances;
  }

  /** `policies` can match one of the sides. Defaults add no policy, because the new side already has their keys. */
  rights(policies: readonly CompiledPolicy[], snapshot: ClusterSnapshot): Steering {
    const sides = [this.#plain.before, this.#plain.after] as const;
    return this.#rights(candidatesFor(policies, sides, this.#reached, snapshot, this.#circumstances.budget));
  }

  /** Returns the right to leave a policy that only reports. Nothing else needs a right to this policy. */
  rightToLeave({ policy, after }: PolicyMatch, { providers }: ClusterSnapshot): readonly Right[] {
    const target = policyTarget(policy);
    if (after.kind === 'yes' || isDeleting(target, providers)) return [];
    return this.#rights([[target, false]]).rights;
  }

  #rights(candidates: readonly Candidate[]): Steering {
    if (candidates.length === 0) return { rights: [], hasEffect: false };
    this.#sides ??= withDefaultedKeys(this.#plain, this.#reached, this.#review, this.#circumstances.budget);
    return rightsOf(candidates, this.#sides, this.#sides !== this.#plain, this.#review, this.#circumstances);
  }
}

/** `hasDefaults`: the old side has the defaults, too, so this comparison does not see their effect. */
// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function rightsOf(
  candidates: readonly Candidate[],
  sides: SteeringSides,
  hasDefaults: boolean,
  review: Review,
  circumstances: Circumstances,
): Steering {
  const { budget } = circumstances;
  const rights: Right[] = [];
  let hasEffect = hasDefaults;
  for (const [target, matchesAfter] of candidates) {
    budget.charge?.(shortName(target.provider.id));
    if (budget.isSpent()) break;
    const effect = steeringEffect(target, matchesAfter, sides, circumstances);
    if (effect === undefined) continue;
    hasEffect ||= effect !== 'loosen';
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
  // No label can steer a tenant's binding, because it matches by the name of its namespace and has no templates.
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
      (!matchesAfter || target.isWorthReaching || (target.enforcement?.overrides.length ?? 0) > 0) &&
      !isDeleting(target, snapshot.providers),
  );
}

/** Returns true for a provider that provides nothing any more. Its objects are removed whatever this write does. */
function isDeleting({ provider }: SteeringTarget, providers: ClusterSnapshot['providers']): boolean {
  return providers.get(provider.id)?.isDeleting === true;
}

/** The two sides that are compared. */
interface SteeringSides {
  /** The namespace on which a match counts as a match before the write. */
  readonly before: KubeObject;
  /** The namespace from which the contents before the write are rendered. */
  readonly contained: KubeObject;
  readonly after: KubeObject;
}

/**
 * On CREATE, the old side is a Namespace with only the fields that the API server sets. The user also chooses the name, so
 * matches are judged on `_any_`, a name that no namespace can have.
 */
export function steeringSides(review: Review, after: KubeObject): SteeringSides {
  if (review.oldObject !== undefined) return { before: review.oldObject, contained: review.oldObject, after };
  return {
    before: bareNamespace(placeholderName, after),
    contained: bareNamespace(nameOf(after), after),
    after,
  };
}

/** Adds to the old side the keys whose values defaults set, because the author of a default answers for it, not the user. */
function withDefaultedKeys(
  sides: SteeringSides,
  reached: MatchesAfter,
  review: Review,
  budget: Budget,
): SteeringSides {
  const keys = defaultedKeys(reached, sides, review, budget);
  if (keys.length === 0) return sides;
  const before = withMissing(sides.before, keys);
  const isSame = sides.contained === sides.before;
  return { before, contained: isSame ? before : withMissing(sides.contained, keys), after: sides.after };
}

/** A policy or share that may match the namespace before or after the write. */
interface SteeringTarget {
  readonly provider: Provider;
  /** The `spec.contact`, for the message of a refusal. */
  readonly contact: string | undefined;
  /** Users who may bring namespaces under the policy without the right to use it. */
  readonly requesters: RequestersSpec | undefined;
  /** True if the policy gives its namespaces objects, or rights by its requesters, and not only rules. */
  readonly isWorthReaching: boolean;
  /** Undefined for a share, which has no rules. */
  readonly enforcement?: Enforcement;
}

export function policyTarget(policy: CompiledPolicy): SteeringTarget {
  const { contents, requesters, contact } = policy;
  const isWorthReaching = contents.length > 0 || requesters !== undefined;
  return { provider: policyProvider(policy), contact, requesters, isWorthReaching, enforcement: policy };
}

export function shareTarget(share: CompiledShare): SteeringTarget {
  const { contact } = share;
  return { provider: shareProvider(share), contact, requesters: undefined, isWorthReaching: true };
}

/** Returns the right to use the policy or share on which the write has the effect. Undefined for a requester. */
function steeringRight(
  { provider: { id, match }, requesters, contact, enforcement }: SteeringTarget,
  effect: SteeringEffect,
  sides: SteeringSides,
  { requester }: Review,
): Right | undefined {
  if (requesters !== undefined && isRequester(requesters, requester)) return undefined;
  const name = nameOf(sides.after);
  const namespace = name === '' ? 'the namespace' : `namespace ${clipped(name)}`;
  const provider = shownProvider(id);
  const overridden = (enforcement?.overrides ?? []).map((each) => each.match);
  const deciding = effect === 'loosen' ? overridden : withAlternatives(match);
  const cause = effect === 'change' ? undefined : causeOf(deciding, sides);
  return {
    ...useOf(id),
    ...(cause === undefined ? { causedBy: changedKeys(sides) } : cause),
    ...(contact === undefined ? {} : { contact }),
    effect: effectTexts[effect](namespace, provider),
    rule: 'steering',
    path: 'metadata',
  };
}

type SteeringEffect = 'join' | 'leave' | 'change' | 'loosen';

const effectTexts: Readonly<Record<SteeringEffect, (namespace: string, provider: string) => string>> = {
  join: (namespace, provider) => `bring ${namespace} under ${provider}`,
  leave: (namespace, provider) => `remove ${namespace} from ${provider}`,
  change: (namespace, provider) => `change what ${namespace} gets from ${provider}`,
  loosen: (namespace, provider) => `bring ${namespace} to where ${provider} no longer denies violations`,
};

/** Returns undefined if the write has no effect on the policy or share. */
export function steeringEffect(
  { provider, isWorthReaching, enforcement }: SteeringTarget,
  matchesAfter: boolean,
  sides: SteeringSides,
  { now, budget }: Circumstances,
): SteeringEffect | undefined {
  const matchedBefore = matchNamespace(provider.match, sides.before, budget).kind === 'yes';
  if (!matchesAfter) return matchedBefore ? 'leave' : undefined;
  if (matchedBefore && providesOther(provider, sides, budget)) return 'change';
  if (!matchedBefore && isWorthReaching) return 'join';
  if (enforcement === undefined || deniesIn(enforcement, sides.after, now)) return undefined;
  // The user who brings a namespace under the policy chooses its labels, now or in a write before.
  const bare = bareNamespace(nameOf(sides.after), sides.after);
  const compared = matchedBefore ? [sides.before] : [sides.before, bare];
  return compared.some((side) => deniesIn(enforcement, side, now)) ? 'loosen' : undefined;
}

/** An error on both sides is no change, and neither is an error if nothing was provided before. */
function providesOther(provider: Provider, { contained, after }: SteeringSides, budget: Budget): boolean {
  const old = provider.render(contained, budget);
  return provider.render(after, budget).some((now, index) => {
    const before = old[index] ?? [];
    if (now.some(({ kind }) => kind === 'error')) return before.some(({ kind }) => kind === 'present');
    // Another label may be missing now. Either way, nothing is provided.
    const isSkipped = [...before, ...now].every(({ kind }) => kind === 'skipped');
    return !isSkipped && !isDeepStrictEqual(before, now);
  });
}

/** Lists the name and the labels that decide the matches. Undefined if a match condition decides. */
function causeOf(
  matches: readonly CompiledMatch[],
  { before, after }: SteeringSides,
): Required<Pick<Right, 'cause' | 'causedBy'>> | undefined {
  const isName = (key: string): boolean => key === namespaceNameLabel && nameOf(before) !== nameOf(after);
  const keys = new Set(matches.flatMap(({ selector }) => [...(selector?.keys ?? [])]));
  const changed = [...keys].filter((key) => valueOf(labelsOf(before), key) !== valueOf(labelsOf(after), key));
  const decidesByName =
    matches.some((match) => nameFits(match, before) !== nameFits(match, after)) || changed.some(isName);
  const labels = changed.filter((key) => !isName(key));
  const causes = [
    ...(decidesByName ? [`name ${clipped(nameOf(after))}`] : []),
    ...labels.map((key) => labelCause(key, labelsOf(after))),
  ];
  const paths = [...(decidesByName ? ['metadata.name'] : []), ...labels.map((key) => keyPath('labels', key))];
  return causes.length === 0 ? undefined : { cause: causes.join(' and '), causedBy: paths };
}

/** Returns the paths of all labels and annotations that differ. */
function changedKeys({ contained, after }: SteeringSides): readonly string[] {
  return (['labels', 'annotations'] as const).flatMap((field) => {
    const [old, now] = [metadataMap(contained, field), metadataMap(after, field)];
    return [...new Set([...Object.keys(old), ...Object.keys(now)])]
      .filter((key) => valueOf(old, key) !== valueOf(now, key))
      .map((key) => keyPath(field, key));
  });
}

function nameFits({ names, excludeNames }: CompiledMatch, namespaceObject: KubeObject): boolean {
  const name = nameOf(namespaceObject);
  return (
    names?.some((glob) => glob.matches(name)) !== false && !excludeNames.some((glob) => glob.matches(name))
  );
}

function labelCause(key: string, labels: ReturnType<typeof labelsOf>): string {
  const value = valueOf(labels, key);
  return value === undefined ? `removing label ${key}` : `label ${key}=${clipped(value)}`;
}

/** Returns the keys that a policy sets. A user who brings a namespace under a policy answers for the values it replaces. */
function defaultedKeys(
  { matches, ownerOf, enforcerOf }: MatchesAfter,
  sides: SteeringSides,
  review: Review,
  budget: Budget,
): readonly DefaultedKey[] {
  const isCreated = review.operation === 'CREATE';
  const found = matches.flatMap(({ policy, before }) =>
    (isCreated || before.kind === 'yes') && policy.namespaceDefaults.some(({ isEnforced }) => isEnforced)
      ? enforcedIn(policy, enforcerOf(policy), sides, isCreated, budget)
      : [],
  );
  for (const { policy } of matches.filter(({ before }) => before.kind !== 'yes')) {
    const ownsDefault = ownerOf(policy);
    for (const key of policy.namespaceDefaults) {
      if (key.isEnforced || !ownsDefault(key.field, key.key)) continue;
      const value = valueOf(metadataMap(sides.after, key.field), key.key);
      if (value === undefined || (key.readsRequest && !isCreated)) continue;
      const rendered = renderDefault(key, sides.after, review, budget);
      if (rendered.ok && rendered.value === value) found.push({ ...key, value });
    }
  }
  return found;
}

/** Adds the keys where they are missing. An existing value was the choice of a user, unless the key is enforced. */
function withMissing(side: KubeObject, keys: readonly DefaultedKey[]): KubeObject {
  const missing = (field: MetadataField): ReadonlyMap<string, string> =>
    new Map(
      keys
        .filter((each) => each.field === field)
        .filter((each) => each.isEnforced || valueOf(metadataMap(side, field), each.key) === undefined)
        .map(({ key, value }) => [key, value]),
    );
  return withMetadata(withMetadata(side, 'labels', missing('labels')), 'annotations', missing('annotations'));
}
