// The engine's view of the cluster at one moment: policies, shares and namespaces, built by src/state.
import type { KubeObject } from '../../base/metadata.ts';
import { noIntents, type IntentContext } from '../intents/intent-context.ts';
import type { ObjectType } from '../terms/object-key.ts';
import {
  kindOfProvider,
  providerKinds,
  type BindingKind,
  type ProviderId,
  type ProviderState,
} from '../terms/provider-id.ts';
import { ProviderIndex } from './provider-index.ts';
import type { ReviewedResource } from '../../rules/rule.ts';
import type { CompiledPolicy } from './compile-policy.ts';
import type { CompiledShare } from './compile-share.ts';

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

export const noShares = new ShareSet([]);
