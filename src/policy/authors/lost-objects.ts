// Counts the objects of a namespace that only the older version of a provider wants.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/kube-object.ts';
import { desiredByProvider, desired, type Desired } from '../desired/desired.ts';
import { isProvided, mayMakeSecret } from '../compile/install.ts';
import {
  type ObjectKey,
  roleBindingType,
  secretObjectType,
  type ObjectType,
  groupKind,
} from '../compile/object-key.ts';
import { policyProvider, shareProvider, type Claim, type Provider } from '../desired/provider.ts';
import type { MatchResult } from '../terms/match.ts';
import { type ClusterSnapshot, PolicySet, ShareSet } from '../compile/snapshot.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import type { ProviderCircumstances } from './provider-write.ts';

export class LostObjects {
  readonly #before: Provider;
  /** Undefined when the provider is deleted or no longer provides anything. */
  readonly #after: Provider | undefined;
  /** True if both versions provide objects of the same names in a namespace that both match. */
  readonly #providesSame: boolean;
  /** The other providers that could want the same objects. */
  readonly #others: ClusterSnapshot;
  readonly #circumstances: ProviderCircumstances;

  constructor(
    before: ProviderDefinition,
    after: ProviderDefinition | undefined,
    snapshot: ClusterSnapshot,
    circumstances: ProviderCircumstances,
  ) {
    this.#before = activeProvider(before);
    this.#after = after === undefined || providesNothing(after) ? undefined : activeProvider(after);
    this.#providesSame = after !== undefined && providesSame(before, after);
    this.#others = otherProviders(before, snapshot);
    this.#circumstances = circumstances;
  }

  /** `namespaceObject` must be managed, and the older version must match it. */
  countIn(namespaceObject: KubeObject, matchAfter: MatchResult['kind']): number {
    const keys = this.#droppedKeys(namespaceObject, matchAfter);
    if (keys.length === 0) return 0;
    const { now, budget } = this.#circumstances;
    const { claims } = desired(namespaceObject, this.#others, now, budget);
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
    const { claims } = this.#wanted(this.#before, namespaceObject);
    return [...claims].flatMap(([key, [claim]]) =>
      claim !== undefined && this.#mayExist(claim) ? [key] : [],
    );
  }

  #mayExist({ type, name }: Claim): boolean {
    const { install } = this.#circumstances;
    if (groupKind(type) === groupKind(secretObjectType)) return mayMakeSecret(name, install);
    return groupKind(type) === groupKind(roleBindingType) || isProvided(type, install);
  }

  #wanted(provider: Provider, namespaceObject: KubeObject): Desired {
    const { now, budget } = this.#circumstances;
    return desiredByProvider(provider, namespaceObject, now, budget);
  }
}

/** Returns the provider as if it were not suspended, because it will be resumed, and suspending must not avoid the fuse. */
function activeProvider(definition: ProviderDefinition): Provider {
  const provider =
    definition.kind === 'NamespacePolicy'
      ? policyProvider(definition.compiled)
      : shareProvider(definition.compiled);
  return { ...provider, isSuspended: false };
}

function providesNothing(definition: ProviderDefinition): boolean {
  return definition.kind === 'NamespacePolicy' && definition.compiled.contents.length === 0;
}

function providesSame(before: ProviderDefinition, after: ProviderDefinition): boolean {
  if (before.kind === 'SecretShare' && after.kind === 'SecretShare') {
    const [old, now] = [before.compiled, after.compiled];
    return old.copy.name === now.copy.name && isDeepStrictEqual(old.source, now.source);
  }
  if (before.kind === 'NamespacePolicy' && after.kind === 'NamespacePolicy')
    return isDeepStrictEqual(before.object.spec.contents, after.object.spec.contents);
  return false;
}

/** Returns the snapshot with only the providers that could want an object of `definition`, for managed namespaces. */
function otherProviders(definition: ProviderDefinition, snapshot: ClusterSnapshot): ClusterSnapshot {
  return {
    ...snapshot,
    policies: new PolicySet(policiesOfSameTypes(definition, snapshot), { excludedNamespaces: [] }),
    shares: new ShareSet(sharesOfSameName(definition, snapshot)),
  };
}

function policiesOfSameTypes(definition: ProviderDefinition, { policies }: ClusterSnapshot) {
  const types = new Set(typesOf(definition).map(groupKind));
  return policies.policies.filter(
    ({ name, contents }) =>
      !(definition.kind === 'NamespacePolicy' && name === definition.compiled.name) &&
      contents.some(({ type }) => types.has(groupKind(type))),
  );
}

/** Only shares provide Secrets, so only a share can want the copy of a share. */
function sharesOfSameName(definition: ProviderDefinition, { shares }: ClusterSnapshot) {
  if (definition.kind !== 'SecretShare') return [];
  const { name, copy } = definition.compiled;
  return shares.shares.filter((share) => share.name !== name && share.copy.name === copy.name);
}

function typesOf(definition: ProviderDefinition): readonly ObjectType[] {
  return definition.kind === 'SecretShare'
    ? [secretObjectType]
    : definition.compiled.contents.map(({ type }) => type);
}
