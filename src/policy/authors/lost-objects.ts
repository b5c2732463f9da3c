// Counts the objects of a namespace that only the older version of a provider wants.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/metadata.ts';
import { desiredByProvider, type Desired } from '../desired/desired.ts';
import { isProvided, mayMakeSecret, type Install } from '../compile/install.ts';
import { type ObjectKey, roleBindingType, secretObjectType, groupKind } from '../terms/object-key.ts';
import { policyProvider, shareProvider, type Claim, type Provider } from '../desired/provider.ts';
import type { MatchResult } from '../terms/match.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import type { OtherProviders } from './other-providers.ts';
import { providedBy, type ProviderCircumstances } from './provider-write.ts';

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
export function mayExist({ type, name }: Claim, install: Install): boolean {
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
export function providesSame(before: ProviderDefinition, after: ProviderDefinition): boolean {
  if (before.kind === 'SecretShare' && after.kind === 'SecretShare') {
    const [old, now] = [before.compiled, after.compiled];
    return old.copy.name === now.copy.name && isDeepStrictEqual(old.source, now.source);
  }
  if (before.kind === 'NamespacePolicy' && after.kind === 'NamespacePolicy')
    return isDeepStrictEqual(providedBy(before), providedBy(after));
  return false;
}
