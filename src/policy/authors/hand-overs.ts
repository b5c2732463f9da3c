// Finds the objects that a write moves from one provider to another or does not get, where both want them in different forms.
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import {
  kindOfKey,
  nameOfKey,
  type ObjectKey,
  compareProviders,
  type ProviderId,
  roleBindingType,
  secretObjectType,
  groupKind,
  namespaceOfProvider,
} from '../terms/provider-id.ts';
import { type ProviderDefinition } from '../compile/load-provider.ts';
import { isProvided, mayMakeSecret, type Install } from '../terms/install.ts';
import {
  desiredByProvider,
  type Desired,
  type Claim,
  type Provider,
  policyProvider,
  shareProvider,
  desired,
} from '../desired/desired.ts';
import type { MatchResult } from '../terms/match.ts';
import {
  fateOf,
  type ProviderCircumstances,
  type ProviderWrite,
  providedBy,
  reachableBy,
} from './provider-write.ts';
import type { CompiledContent } from '../compile/compile-contents.ts';
import { type ClusterSnapshot, PolicySet, ShareSet } from '../compile/snapshot.ts';
import type { Circumstances } from '../terms/budget.ts';

export interface HandOver {
  /** What happens to the objects for the written provider. */
  readonly effect: 'taken' | 'handed' | 'not got';
  readonly other: ProviderId;
  readonly kind: string;
  readonly names: Set<string>;
  readonly namespaces: Set<string>;
}

type Claims = ReadonlyMap<ObjectKey, readonly Claim[]>;

export class HandOvers {
  readonly #all = new Map<string, HandOver>();
  readonly #before: Provider | undefined;
  readonly #after: Provider | undefined;
  readonly #others: OtherProviders;
  readonly #circumstances: ProviderCircumstances;
  readonly #isSilent: boolean;
  readonly #providesSame: boolean;

  constructor(write: ProviderWrite, others: OtherProviders, circumstances: ProviderCircumstances) {
    const { before, after } = write;
    this.#before = before === undefined ? undefined : activeProvider(before);
    this.#after = after === undefined ? undefined : activeProvider(after);
    this.#others = others;
    this.#circumstances = circumstances;
    // A suspended provider gives and takes nothing.
    this.#isSilent = others.isEmpty || fateOf(write) === 'kept' || before?.object.spec.suspend === true;
    this.#providesSame =
      before !== undefined &&
      after !== undefined &&
      providesSame(before, after) &&
      hasSameCopy(before, after);
  }

  get all(): readonly HandOver[] {
    return [...this.#all.values()];
  }

  /** `older` and `newer` say whether the versions match the namespace. */
  add(namespaceObject: KubeObject, older: MatchResult['kind'], newer: MatchResult['kind']): void {
    if (this.#isSilent || (older === newer && this.#providesSame)) return;
    const old = this.#claims(this.#before, older, namespaceObject);
    const now = this.#claims(this.#after, newer, namespaceObject);
    if (old === undefined || now === undefined) return;
    for (const key of new Set([...old.keys(), ...now.keys()])) {
      const other = winnerOf(key, this.#others.wantedIn(namespaceObject));
      if (other !== undefined) this.#compare(namespaceObject, old.get(key)?.[0], now.get(key)?.[0], other);
    }
  }

  // oxlint-disable-next-line max-params -- one caller, which has them all at hand
  #compare(namespaceObject: KubeObject, old: Claim | undefined, now: Claim | undefined, other: Claim): void {
    const [was, is] = [ahead(old, other), ahead(now, other)];
    // What this provider has before and after the write is a change in place, which another notice words.
    if (is !== undefined && was === undefined) this.#add(namespaceObject, is, other, 'taken');
    if (was !== undefined && is === undefined) this.#add(namespaceObject, was, other, 'handed');
    if (was !== undefined || is !== undefined || now === undefined) return;
    const isKnown = old !== undefined && isDeepStrictEqual(formOf(old), formOf(now));
    if (!isKnown) this.#add(namespaceObject, now, other, 'not got');
  }

  #add(namespaceObject: KubeObject, claim: Claim, other: Claim, effect: HandOver['effect']): void {
    const { install } = this.#circumstances;
    if (!mayExist(claim, install) || isDeepStrictEqual(formOf(claim), formOf(other))) return;
    const { provider, key } = other;
    const kind = kindOfKey(key);
    const id = `${effect} ${kind} ${provider}`;
    const handOver = this.#all.get(id) ?? {
      effect,
      other: provider,
      kind,
      names: new Set<string>(),
      namespaces: new Set<string>(),
    };
    this.#all.set(id, handOver);
    handOver.names.add(nameOfKey(key));
    handOver.namespaces.add(nameOf(namespaceObject));
  }

  /** Undefined after an error: then all objects stay as they are. */
  #claims(
    provider: Provider | undefined,
    match: MatchResult['kind'],
    namespaceObject: KubeObject,
  ): Claims | undefined {
    if (match === 'error') return undefined;
    if (provider === undefined || match === 'no') return new Map();
    const { now, budget } = this.#circumstances;
    const wanted = desiredByProvider(provider, namespaceObject, now, budget);
    return wanted.frozen.size > 0 ? undefined : wanted.claims;
  }
}

/** Copies of one name and source can still differ in their keys, type and labels. */
function hasSameCopy(before: ProviderDefinition, after: ProviderDefinition): boolean {
  const [old, now] = [before, after].map(({ kind, compiled }) => kind === 'SecretShare' && compiled.copy);
  return isDeepStrictEqual(old, now);
}

/** A provider that is suspended or has an error takes no object. */
function winnerOf(key: ObjectKey, { claims, frozen }: Desired): Claim | undefined {
  return claims.get(key)?.find(({ provider }) => !frozen.has(provider));
}

/** Returns the claim if it wins: the kinds decide, then the names. */
function ahead(claim: Claim | undefined, other: Claim): Claim | undefined {
  return claim !== undefined && compareProviders(claim.provider, other.provider) < 0 ? claim : undefined;
}

/** Returns the object that the claim wants, without its provider. */
function formOf({ content, expiresAt }: Claim): unknown {
  if (content.kind === 'object') return [content.body, expiresAt];
  const { source, copy } = content.share;
  return [source, copy];
}

// Counts the objects of a namespace that only the older version of a provider wants.

export class LostObjects {
  readonly #before: Provider;
  /** Undefined when the provider is deleted or no longer provides anything. */
  readonly #after: Provider | undefined;
  /** True if both versions provide objects of the same names in a namespace that both match. */
  readonly #providesSame: boolean;
  readonly #others: OtherProviders;
  readonly #circumstances: ProviderCircumstances;

  constructor(
    before: ProviderDefinition,
    after: ProviderDefinition | undefined,
    others: OtherProviders,
    circumstances: ProviderCircumstances,
  ) {
    this.#before = activeProvider(before);
    this.#after = after === undefined || providesNothing(after) ? undefined : activeProvider(after);
    this.#providesSame = after !== undefined && providesSame(before, after);
    this.#others = others;
    this.#circumstances = circumstances;
  }

  /** `namespaceObject` must be managed, and the older version must match it. */
  countIn(namespaceObject: KubeObject, matchAfter: MatchResult['kind']): number {
    const keys = this.#droppedKeys(namespaceObject, matchAfter);
    if (keys.length === 0) return 0;
    const { claims } = this.#others.wantedIn(namespaceObject);
    return keys.filter((key) => !claims.has(key)).length;
  }

  /** Returns what only the older version provides: nothing where the newer version has an error, because objects stay then. */
  #droppedKeys(namespaceObject: KubeObject, matchAfter: MatchResult['kind']): readonly ObjectKey[] {
    const after = matchAfter === 'no' ? undefined : this.#after;
    if (after === undefined) return this.#keysBefore(namespaceObject);
    if (matchAfter === 'error' || this.#providesSame) return [];
    const { claims, frozen } = this.#wanted(after, namespaceObject);
    if (frozen.size > 0) return [];
    return this.#keysBefore(namespaceObject).filter((key) => !claims.has(key));
  }

  /** Leaves out what the installation does not allow, because Reeve never created it. */
  #keysBefore(namespaceObject: KubeObject): readonly ObjectKey[] {
    const { install } = this.#circumstances;
    const { claims } = this.#wanted(this.#before, namespaceObject);
    return [...claims].flatMap(([key, [claim]]) =>
      claim !== undefined && mayExist(claim, install) ? [key] : [],
    );
  }

  #wanted(provider: Provider, namespaceObject: KubeObject): Desired {
    const { now, budget } = this.#circumstances;
    return desiredByProvider(provider, namespaceObject, now, budget);
  }
}

/** False for an object that the installation does not let Reeve create. */
function mayExist({ type, name }: Claim, install: Install): boolean {
  if (groupKind(type) === groupKind(secretObjectType)) return mayMakeSecret(name, install);
  return groupKind(type) === groupKind(roleBindingType) || isProvided(type, install);
}

/** Returns the provider as if it were not suspended, because it will be resumed, and suspending must not avoid the fuse. */
export function activeProvider(definition: ProviderDefinition): Provider {
  const provider =
    definition.kind === 'NamespacePolicy'
      ? policyProvider(definition.compiled)
      : shareProvider(definition.compiled);
  return { ...provider, isSuspended: false };
}

function providesNothing(definition: ProviderDefinition): boolean {
  return definition.kind === 'NamespacePolicy' && definition.compiled.contents.length === 0;
}

/** True if both versions provide objects of the same names. */
function providesSame(before: ProviderDefinition, after: ProviderDefinition): boolean {
  if (before.kind === 'SecretShare' && after.kind === 'SecretShare') {
    const [old, now] = [before.compiled, after.compiled];
    return old.copy.name === now.copy.name && isDeepStrictEqual(old.source, now.source);
  }
  if (before.kind === 'NamespacePolicy' && after.kind === 'NamespacePolicy')
    return isDeepStrictEqual(providedBy(before), providedBy(after));
  return false;
}

// Finds the other policies and shares that could want the same objects as a provider, and what they want.

export class OtherProviders {
  readonly isEmpty: boolean;
  readonly #snapshot: ClusterSnapshot;
  readonly #circumstances: Circumstances;
  #last: readonly [KubeObject, Desired] | undefined;

  /** `versions` are those of one provider. */
  constructor(
    versions: readonly ProviderDefinition[],
    snapshot: ClusterSnapshot,
    circumstances: Circumstances,
  ) {
    const policies = policiesLike(versions, snapshot);
    const shares = sharesLike(versions, snapshot);
    this.isEmpty = policies.length + shares.length === 0;
    const set = new PolicySet(policies, { excludedNamespaces: [] });
    this.#snapshot = { ...snapshot, policies: set, shares: new ShareSet(shares) };
    this.#circumstances = circumstances;
  }

  /** `namespaceObject` must be managed. Remembers the last answer, because several notices need it. */
  wantedIn(namespaceObject: KubeObject): Desired {
    if (this.#last?.[0] !== namespaceObject) {
      const { now, budget } = this.#circumstances;
      this.#last = [namespaceObject, desired(namespaceObject, this.#snapshot, now, budget)];
    }
    return this.#last[1];
  }
}

function policiesLike(versions: readonly ProviderDefinition[], snapshot: ClusterSnapshot) {
  const { policies } = snapshot;
  const own = versions.flatMap((version) => (version.kind === 'NamespacePolicy' ? [version.compiled] : []));
  const ids = new Set(own.map(({ id }) => id));
  const wanted = own.flatMap(({ contents }) => contents);
  // Thousands of tenants can have bindings, so each is compared only with what its own namespace gets.
  const isTenants = own.every(({ id }) => namespaceOfProvider(id) !== undefined);
  const others = isTenants
    ? policies.candidates(
        'namespaces',
        own.slice(0, 1).flatMap(({ id }) => reachableBy(id, snapshot)),
      )
    : policies.policies;
  return others.filter(
    ({ id, contents }) =>
      !ids.has(id) && contents.some((content) => wanted.some((each) => mayBeSame(content, each))),
  );
}

/** Only shares provide Secrets, so only a share can want the copy of a share. */
function sharesLike(versions: readonly ProviderDefinition[], { shares }: ClusterSnapshot) {
  const own = versions.flatMap((version) => (version.kind === 'SecretShare' ? [version.compiled] : []));
  return shares.shares.filter((share) =>
    own.some(({ id, copy }) => share.id !== id && share.copy.name === copy.name),
  );
}

/** Rendering the contents of all policies for all namespaces would take too long, so other names are left out early. */
function mayBeSame(a: CompiledContent, b: CompiledContent): boolean {
  if (groupKind(a.type) !== groupKind(b.type)) return false;
  const [one, other] = [fixedPart(a.name), fixedPart(b.name)];
  if (one === a.name && other === b.name) return one === other;
  return one === a.name
    ? one.startsWith(other)
    : other === b.name
      ? other.startsWith(one)
      : one.startsWith(other) || other.startsWith(one);
}

/** The text before the first expression or escape. */
function fixedPart(name: string): string {
  return name.replace(/\$.*$/s, '');
}
