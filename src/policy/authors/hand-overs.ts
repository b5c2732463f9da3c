// Finds the objects that a write moves from one provider to another or does not get, where both want them in different forms.
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { kindOfKey, nameOfKey, type ObjectKey } from '../terms/object-key.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { desiredByProvider, type Desired } from '../desired/desired.ts';
import type { Claim, Provider } from '../desired/provider.ts';
import type { MatchResult } from '../terms/match.ts';
import { compareProviders, type ProviderId } from '../terms/provider-id.ts';
import { activeProvider, mayExist, providesSame } from './lost-objects.ts';
import type { OtherProviders } from './other-providers.ts';
import { fateOf, type ProviderCircumstances, type ProviderWrite } from './provider-write.ts';

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
