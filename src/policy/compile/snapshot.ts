// The engine's view of the cluster at one moment: policies, shares and namespaces, built by src/state.
import { type KubeObject, labelsOf, nameOf } from '../../base/metadata.ts';
import { noIntents, type IntentContext } from '../intents/intent-context.ts';
import type { BindingKind } from '../../api/kinds.ts';
import type { ObjectType } from '../../base/object-type.ts';
import { kindOfProvider, providerKinds, type ProviderId, type ProviderState } from '../terms/provider-id.ts';
import type { KeyRule, ReviewedResource, OwnsDefault } from '../../rules/rule.ts';
import type { CompiledPolicy } from './compile-policy.ts';
import type { CompiledShare } from './compile-share.ts';
import { type CompiledMatch, deniesIn, isExcepted } from '../terms/match.ts';
import type { Review } from '../terms/review.ts';
import { helmReleaseType } from '../../rules/secret-types.ts';
import { secretType } from '../../rules/secret-values.ts';
import type { CompiledRule } from '../../rules/rules.ts';

export interface ClusterSnapshot {
  readonly policies: PolicySet;
  readonly shares: ShareSet;
  /** Every stored policy and share, valid or not. Empty without a cluster. */
  readonly providers: ReadonlyMap<ProviderId, ProviderState>;
  readonly intents: IntentSnapshot;
  /** False for a kind of a security engine that the API server does not serve now. Objects of such a kind are left alone. */
  isServed(type: ObjectType): boolean;
  namespace(name: string): KubeObject | undefined;
  namespaces(): Iterable<KubeObject>;
}

/** What a write of an intent is judged by. */
export interface IntentSnapshot {
  /** With what the bindings of this snapshot are compiled. */
  readonly context: IntentContext;
  /** Every stored binding, valid or not. */
  bindings(): Iterable<StoredBinding>;
}

export interface StoredBinding {
  readonly kind: BindingKind;
  readonly object: KubeObject;
}

export const withoutIntents: IntentSnapshot = { context: noIntents, bindings: () => [] };

interface PolicySetOptions {
  /** Namespaces that no policy matches: those of Kubernetes, of Reeve, and of the install's exclusions. */
  readonly excludedNamespaces: readonly string[];
}

/** The policies in force, indexed so that a request looks at few of them. */
export class PolicySet {
  readonly policies: readonly CompiledPolicy[];
  readonly #excluded: ReadonlySet<string>;
  readonly #indexes: Readonly<Record<ReviewedResource, ProviderIndex<CompiledPolicy>>>;
  readonly #judged: ReadonlySet<ReviewedResource>;

  constructor(policies: readonly CompiledPolicy[], options: PolicySetOptions) {
    this.policies = inOrder(policies);
    this.#excluded = new Set(options.excludedNamespaces);
    const judging = (resource: ReviewedResource) =>
      this.policies.filter(({ rules }) => rules[resource].length > 0);
    const resources = ['namespaces', 'secrets', 'roles', 'rolebindings'] as const;
    this.#judged = new Set(resources.filter((resource) => judging(resource).length > 0));
    this.#indexes = {
      namespaces: new ProviderIndex(this.policies),
      secrets: new ProviderIndex(judging('secrets')),
      roles: new ProviderIndex(judging('roles')),
      rolebindings: new ProviderIndex(judging('rolebindings')),
    };
  }

  isExcluded(namespace: string): boolean {
    return this.#excluded.has(namespace);
  }

  /** True when a policy has rules for this resource. */
  judges(resource: ReviewedResource): boolean {
    return this.#judged.has(resource);
  }

  /** Returns the policies with rules for the resource that can match one of these Namespaces, by kind and name. */
  candidates(resource: ReviewedResource, namespaceObjects: readonly KubeObject[]): readonly CompiledPolicy[] {
    return this.#indexes[resource].candidates(namespaceObjects);
  }
}

/** The shares in force, indexed in the same way. */
export class ShareSet {
  readonly shares: readonly CompiledShare[];
  readonly #index: ProviderIndex<CompiledShare>;

  constructor(shares: readonly CompiledShare[]) {
    this.shares = inOrder(shares);
    this.#index = new ProviderIndex(this.shares);
  }

  /** Returns the shares that can match one of these Namespaces, sorted by name. */
  candidates(namespaceObjects: readonly KubeObject[]): readonly CompiledShare[] {
    return this.#index.candidates(namespaceObjects);
  }
}

/** With thousands of bindings, sorting was half of the time to build a set. They come almost sorted, one kind after the other. */
function inOrder<T extends { readonly id: ProviderId }>(providers: readonly T[]): readonly T[] {
  const byKind = Map.groupBy(providers, ({ id }) => kindOfProvider(id));
  return providerKinds.flatMap((kind) =>
    (byKind.get(kind) ?? []).sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id))),
  );
}

// Finds the providers that can match a namespace: by its exact name, a prefix of it, or a label.

interface Indexed {
  readonly match: CompiledMatch;
}

/** Indexes each provider by its narrowest term. Providers without such a term are always candidates. */
export class ProviderIndex<T extends Indexed> {
  readonly #byName = new Map<string, T[]>();
  readonly #byPrefix = new Map<string, T[]>();
  readonly #prefixLengths = new Set<number>();
  readonly #byPair = new Map<string, T[]>();
  readonly #byKey = new Map<string, T[]>();
  readonly #always: T[] = [];
  readonly #places = new Map<T, number>();

  constructor(providers: readonly T[]) {
    for (const [place, provider] of providers.entries()) {
      this.#places.set(provider, place);
      this.#add(provider);
    }
  }

  /** The providers that can match any of these objects, in the order that the constructor was given, each once. */
  candidates(objects: readonly KubeObject[]): readonly T[] {
    const found = new Set<T>(this.#always);
    for (const object of objects) this.#collect(object, found);
    if (found.size < 2) return [...found];
    return [...found].sort((a, b) => this.#placeOf(a) - this.#placeOf(b));
  }

  #placeOf(provider: T): number {
    return this.#places.get(provider) ?? 0;
  }

  #add(provider: T): void {
    for (const term of narrowTerms(provider.match)) this.#addTerm(provider, term);
  }

  #addTerm(provider: T, term: Term): void {
    switch (term.kind) {
      case 'names':
        for (const name of term.values) append(this.#byName, name, provider);
        break;
      case 'pairs':
        for (const pair of term.values) append(this.#byPair, pair, provider);
        break;
      case 'prefixes':
        for (const prefix of term.values) {
          append(this.#byPrefix, prefix, provider);
          this.#prefixLengths.add(prefix.length);
        }
        break;
      case 'key':
        append(this.#byKey, term.key, provider);
        break;
      case 'none':
        this.#always.push(provider);
        break;
      default:
        term satisfies never;
    }
  }

  #collect(object: KubeObject, found: Set<T>): void {
    const name = nameOf(object);
    if (this.#byName.size > 0) addAll(found, this.#byName.get(name));
    for (const length of this.#prefixLengths) addAll(found, this.#byPrefix.get(name.slice(0, length)));
    if (this.#byPair.size === 0 && this.#byKey.size === 0) return;
    const labels = labelsOf(object);
    for (const key of Object.keys(labels)) {
      addAll(found, this.#byPair.get(pairKey(key, labels[key] ?? '')));
      addAll(found, this.#byKey.get(key));
    }
  }
}

// The class above must be defined before the first set is built.
export const noShares = new ShareSet([]);

type Term =
  | { readonly kind: 'names' | 'pairs' | 'prefixes'; readonly values: ReadonlySet<string> }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'none' };

/** Returns the narrowest term, or that of each alternative. */
function narrowTerms(match: CompiledMatch): readonly Term[] {
  const own = narrowestTerm(match);
  return own.kind === 'none' && match.anyOf !== undefined ? match.anyOf.map(narrowestTerm) : [own];
}

/** Returns the narrowest term. The order is: exact names, a label with its value, a name prefix, a label. */
function narrowestTerm({ names, selector }: CompiledMatch): Term {
  const need = selector?.needs;
  if (names?.every(({ exact }) => exact) === true) {
    return { kind: 'names', values: new Set(names.map(({ source }) => source)) };
  }
  if (need?.kind === 'pairs') {
    return { kind: 'pairs', values: new Set(need.values.map((value) => pairKey(need.key, value))) };
  }
  if (names?.every(({ prefix }) => prefix !== '') === true) {
    return { kind: 'prefixes', values: new Set(names.map(({ prefix }) => prefix)) };
  }
  return need?.kind === 'key' ? { kind: 'key', key: need.key } : { kind: 'none' };
}

/** Unambiguous, because a label key contains no `=`. */
function pairKey(key: string, value: string): string {
  return `${key}=${value}`;
}

function append<T>(index: Map<string, T[]>, key: string, provider: T): void {
  const list = index.get(key);
  if (list === undefined) index.set(key, [provider]);
  else list.push(provider);
}

function addAll<T>(found: Set<T>, providers: readonly T[] | undefined): void {
  if (providers === undefined) return;
  for (const provider of providers) found.add(provider);
}

// Selects what applies to a review: rules, the Namespace they need, and the policy that owns a default.

export function rulesFor(policy: CompiledPolicy, { resource, object }: Review): readonly CompiledRule[] {
  const isHelmRelease =
    resource === 'secrets' && object !== undefined && secretType(object) === helmReleaseType;
  return isHelmRelease && !policy.judgesHelmReleases ? [] : policy.rules[resource];
}

/** Returns whether an existing object can violate a rule of the policy. */
export function hasAuditableRules(policy: CompiledPolicy, resource: ReviewedResource): boolean {
  return policy.rules[resource].some(isAuditable);
}

/**
 * Leaves out rules about the user of a change. Quotas concern all namespaces together, so they are counted elsewhere. An error
 * of a content is a failure in the status, and no violation.
 */
export function isAuditable(rule: CompiledRule): boolean {
  const { isAudited = false, isShownByObjects = false } = rule.traits;
  return isAudited || (rule.shape === 'state' && rule.graced && !isShownByObjects);
}

/** Returns the Namespace that must be known to decide. Excluded namespaces and objects without rules need no lookup. */
export function namespaceNeeded(review: Review, policies: PolicySet): string | undefined {
  const { resource, operation, namespace } = review;
  // Deletions of these objects are not judged, so that cleaning up always works.
  if (resource === 'namespaces' || operation === 'DELETE') return undefined;
  return policies.isExcluded(namespace) || !policies.judges(resource) ? undefined : namespace;
}

/** The failurePolicy of the webhooks for Secrets, Roles and RoleBindings. `Off`: without these webhooks. */
export type HookMode = 'Off' | 'Ignore' | 'Fail';

/** The kinds besides Namespaces for which a policy in force has rules or defaults. */
export interface JudgedKinds {
  readonly secrets: boolean;
  readonly roles: boolean;
  readonly rolebindings: boolean;
  readonly secretDefaults: boolean;
}

export function judgedKinds(policies: PolicySet): JudgedKinds {
  return {
    secrets: policies.judges('secrets'),
    roles: policies.judges('roles'),
    rolebindings: policies.judges('rolebindings'),
    secretDefaults: policies.policies.some(({ secretDefaults }) => secretDefaults.length > 0),
  };
}

/** Returns the parts of the spec that need a webhook which this install leaves out. They apply only to our own writes. */
export function partsWithoutHook(policy: CompiledPolicy, mode: HookMode): readonly ('secrets' | 'rbac')[] {
  if (mode !== 'Off') return [];
  const { secrets, roles, rolebindings } = policy.rules;
  return [
    ...(secrets.length > 0 ? (['secrets'] as const) : []),
    ...(roles.length + rolebindings.length > 0 ? (['rbac'] as const) : []),
  ];
}

/** Returns which policy sets each key of the rule. `matching` is sorted by name, and the first policy wins. */
export function keyOwners(
  rule: KeyRule,
  matching: readonly CompiledPolicy[],
  namespace: string,
  now: Date,
): (policy: CompiledPolicy) => OwnsDefault {
  const owners = new Map<string, CompiledPolicy>();
  for (const policy of matching) {
    const keys = rule === 'secrets.defaults' ? policy.secretDefaults : policy.namespaceDefaults;
    if (keys.length === 0 || isExcepted(policy.exceptions, rule, namespace, now)) continue;
    for (const { rule: of, field, key } of keys) {
      const id = `${field} ${key}`;
      if (of === rule && !owners.has(id)) owners.set(id, policy);
    }
  }
  return (policy) => (field, key) => owners.get(`${field} ${key}`) === policy;
}

/** Returns which policy enforces each key in the namespace. A policy that denies nothing there enforces nothing. */
export function enforcingOwners(
  matching: readonly CompiledPolicy[],
  namespaceObject: KubeObject,
  now: Date,
): (policy: CompiledPolicy) => OwnsDefault {
  const denying = matching.filter((policy) => deniesIn(policy, namespaceObject, now));
  return keyOwners('namespaces.enforced', denying, nameOf(namespaceObject), now);
}
