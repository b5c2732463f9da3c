// Counts the objects that one version of a policy or share provides in a namespace, and that nobody would afterwards.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Circumstances } from '../terms/budget.ts';
import { claimedKeys, desired, type Desired } from '../desired/desired.ts';
import { type ObjectKey, secretObjectType, type ObjectType, groupKind } from '../compile/object-key.ts';
import { policyProvider, shareProvider, type Provider } from '../desired/provider.ts';
import type { MatchResult } from '../terms/match.ts';
import { type ClusterSnapshot, PolicySet, ShareSet } from '../compile/snapshot.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';

export class LostObjects {
  readonly #before: Provider;
  /** Undefined when it goes, or provides nothing any more. */
  readonly #after: Provider | undefined;
  /** Whether a namespace that both versions match gets objects of the same names from both. */
  readonly #providesSame: boolean;
  /** Everybody else who could want the same objects. */
  readonly #rivals: ClusterSnapshot;
  readonly #circumstances: Circumstances;

  constructor(
    before: ProviderDefinition,
    after: ProviderDefinition | undefined,
    snapshot: ClusterSnapshot,
    circumstances: Circumstances,
  ) {
    this.#before = activeProvider(before);
    this.#after = after === undefined || providesNothing(after) ? undefined : activeProvider(after);
    this.#providesSame = after !== undefined && providesSame(before, after);
    this.#rivals = rivalsOf(before, snapshot);
    this.#circumstances = circumstances;
  }

  /** For a namespace that is managed and that the older version matches. */
  countIn(namespaceObject: KubeObject, matchAfter: MatchResult['kind']): number {
    const keys = this.#keysLeftBy(namespaceObject, matchAfter);
    if (keys.length === 0) return 0;
    const { now, budget } = this.#circumstances;
    const { claims } = desired(namespaceObject, this.#rivals, now, budget);
    return keys.filter((key) => !claims.has(key)).length;
  }

  /** What the older version provides and the newer one does not. Where that cannot be told, all stays as it is. */
  #keysLeftBy(namespaceObject: KubeObject, matchAfter: MatchResult['kind']): readonly ObjectKey[] {
    const after = matchAfter === 'no' ? undefined : this.#after;
    if (after === undefined) return [...this.#wanted(this.#before, namespaceObject).claims.keys()];
    if (matchAfter === 'error' || this.#providesSame) return [];
    const { claims, frozen } = this.#wanted(after, namespaceObject);
    if (frozen.size > 0) return [];
    return [...this.#wanted(this.#before, namespaceObject).claims.keys()].filter((key) => !claims.has(key));
  }

  #wanted(provider: Provider, namespaceObject: KubeObject): Desired {
    const { now, budget } = this.#circumstances;
    return claimedKeys(provider, namespaceObject, now, budget);
  }
}

/** What is suspended is counted as if it were not, for it will be resumed; and nothing may hide behind that. */
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

/** The snapshot with them alone; for namespaces that are managed. */
export function rivalsOf(definition: ProviderDefinition, snapshot: ClusterSnapshot): ClusterSnapshot {
  return {
    ...snapshot,
    policies: new PolicySet(rivalPolicies(definition, snapshot), { excludedNamespaces: [] }),
    shares: new ShareSet(rivalShares(definition, snapshot)),
  };
}

function rivalPolicies(definition: ProviderDefinition, { policies }: ClusterSnapshot) {
  const types = new Set(typesOf(definition).map(groupKind));
  return policies.policies.filter(
    ({ name, contents }) =>
      !(definition.kind === 'NamespacePolicy' && name === definition.compiled.name) &&
      contents.some(({ type }) => types.has(groupKind(type))),
  );
}

/** Policies never provide Secrets. */
function rivalShares(definition: ProviderDefinition, { shares }: ClusterSnapshot) {
  if (definition.kind !== 'SecretShare') return [];
  const { name, copy } = definition.compiled;
  return shares.shares.filter((share) => share.name !== name && share.copy.name === copy.name);
}

function typesOf(definition: ProviderDefinition): readonly ObjectType[] {
  return definition.kind === 'SecretShare'
    ? [secretObjectType]
    : definition.compiled.contents.map(({ type }) => type);
}
