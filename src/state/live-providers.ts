// Keeps the providers that the watches report: the state of each, and the sets in force.
import { isDeepStrictEqual } from 'node:util';
import { apiVersion, confirmDeletionsAnnotation } from '../schema/names.ts';
import { ownMember } from '../base/json.ts';
import {
  isBindingKind,
  kindOfProvider,
  providerRef,
  type ProviderId,
  type ProviderKind,
  providerKinds,
} from '../policy/terms/provider-id.ts';
import type { ObjectType } from '../policy/terms/object-key.ts';
import { ObjectCache } from './object-cache.ts';
import { LiveIntents, type LiveIntentsOptions } from './live-intents.ts';
import { loadStored, reloadStored, type LoadedProvider, type Standing } from './stored-provider.ts';
import type { CompiledPolicy } from '../policy/compile/compile-policy.ts';
import type { CompiledShare } from '../policy/compile/compile-share.ts';
import { PolicySet, ShareSet, type ClusterSnapshot, type StoredBinding } from '../policy/compile/snapshot.ts';

export interface ProviderChange {
  readonly kind: 'provider';
  readonly id: ProviderId;
  readonly before: LoadedProvider | undefined;
  /** Has another UID than `before` when the provider was deleted and created again. */
  readonly after: LoadedProvider | undefined;
  /** True when the change can change objects in namespaces. A written status cannot. */
  readonly affectsNamespaces: boolean;
}

export type ProviderCounts = Readonly<Record<ProviderKind, Readonly<Record<Standing, number>>>>;

type ProvidersView = Omit<ClusterSnapshot, 'namespace' | 'namespaces'>;
type Store = ObjectCache<LoadedProvider>;

export class LiveProviders {
  readonly stores: Readonly<Record<ProviderKind, Store>>;
  readonly intents: LiveIntents;
  readonly #excludedNamespaces: readonly string[];
  readonly #changed: (changes: readonly ProviderChange[]) => void;
  // Built on first use, so that a burst of changes builds each set once.
  #policySet: PolicySet | undefined;
  #shareSet: ShareSet | undefined;

  constructor(
    excludedNamespaces: readonly string[],
    intents: Omit<LiveIntentsOptions, 'changed'>,
    changed: (changes: readonly ProviderChange[]) => void,
  ) {
    this.#excludedNamespaces = excludedNamespaces;
    this.#changed = changed;
    this.intents = new LiveIntents({
      ...intents,
      changed: (names) => this.#reload((spec) => names === undefined || namesAny(spec, names)),
    });
    this.stores = {
      NamespacePolicy: this.#store('NamespacePolicy'),
      SecretShare: this.#store('SecretShare'),
      ClusterSecurityIntentBinding: this.#store('ClusterSecurityIntentBinding'),
      SecurityIntentBinding: this.#store('SecurityIntentBinding'),
    };
  }

  get isSynced(): boolean {
    return this.intents.isSynced && Object.values(this.stores).every(({ isSynced }) => isSynced);
  }

  get(id: ProviderId): LoadedProvider | undefined {
    return this.stores[kindOfProvider(id)].get(id.slice(id.indexOf('/') + 1));
  }

  *all(): Generator<LoadedProvider> {
    for (const kind of providerKinds) yield* this.stores[kind].values();
  }

  view(): ProvidersView {
    const excludedNamespaces = this.#excludedNamespaces;
    const loaded = [...this.all()];
    this.#policySet ??= new PolicySet(loaded.flatMap(policyOf), { excludedNamespaces });
    this.#shareSet ??= new ShareSet(loaded.flatMap(shareOf));
    const providers = new Map(loaded.map(({ state }) => [state.id, state] as const));
    const isServed = (type: ObjectType): boolean => this.intents.isServed(type);
    const { context } = this.intents;
    const intents = { context, bindings: () => loaded.flatMap(bindingOf) };
    return { policies: this.#policySet, shares: this.#shareSet, providers, intents, isServed };
  }

  counts(): ProviderCounts {
    const { NamespacePolicy, SecretShare, ClusterSecurityIntentBinding, SecurityIntentBinding } = this.stores;
    return {
      NamespacePolicy: countsOf(NamespacePolicy),
      SecretShare: countsOf(SecretShare),
      ClusterSecurityIntentBinding: countsOf(ClusterSecurityIntentBinding),
      SecurityIntentBinding: countsOf(SecurityIntentBinding),
    };
  }

  /** Takes the answers of the API server about kinds of security engines. A new one can change every binding. */
  setServed(answers: Iterable<readonly [ObjectType, boolean]>): void {
    if (this.intents.setServed(answers)) this.#reload(() => true);
  }

  /** An intent or an adapter has changed, so the same binding gives other objects. */
  #reload(isAffected: (spec: unknown) => boolean): void {
    const { context } = this.intents;
    const { ClusterSecurityIntentBinding, SecurityIntentBinding } = this.stores;
    for (const store of [ClusterSecurityIntentBinding, SecurityIntentBinding])
      store.reread((loaded) => (isAffected(loaded.spec) ? reloadStored(loaded, context) : undefined));
    // A snapshot shows the intents and the adapters also where no binding depends on them.
    this.#changed([]);
  }

  /** Only a changed definition discards the set; a written status, for one, does not. */
  #store(kind: ProviderKind): Store {
    return new ObjectCache<LoadedProvider>({
      apiVersion,
      kind,
      read: (object, before) => loadStored(kind, object, before, this.intents.context),
      changed: (changes) => {
        if (changes.some(({ before, after }) => before?.definition !== after?.definition)) {
          if (kind === 'SecretShare') this.#shareSet = undefined;
          else this.#policySet = undefined;
        }
        this.#changed(
          changes.map(({ name, before, after }) => ({
            kind: 'provider',
            id: `${kind}/${name}`,
            before,
            after,
            affectsNamespaces: affectsNamespaces(before, after),
          })),
        );
      },
    });
  }
}

function policyOf({ definition }: LoadedProvider): readonly CompiledPolicy[] {
  return definition?.kind === 'NamespacePolicy' ? [definition.compiled] : [];
}

function shareOf({ definition }: LoadedProvider): readonly CompiledShare[] {
  return definition?.kind === 'SecretShare' ? [definition.compiled] : [];
}

function bindingOf({ state: { id, confirmation }, spec }: LoadedProvider): readonly StoredBinding[] {
  const kind = kindOfProvider(id);
  if (!isBindingKind(kind)) return [];
  const { apiVersion: version, name, namespace } = providerRef(id);
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(confirmation === undefined ? {} : { annotations: { [confirmDeletionsAnnotation]: confirmation } }),
  };
  return [{ kind, object: { apiVersion: version, kind, metadata, spec } }];
}

function namesAny(spec: unknown, intents: ReadonlySet<string>): boolean {
  const names: unknown = ownMember(spec, 'intents');
  return Array.isArray(names) && names.some((name: unknown) => typeof name === 'string' && intents.has(name));
}

function countsOf(store: Store): Readonly<Record<Standing, number>> {
  const counts = { loaded: 0, 'last-good': 0, refused: 0 };
  for (const { standing } of store.values()) counts[standing] += 1;
  return counts;
}

function affectsNamespaces(before: LoadedProvider | undefined, after: LoadedProvider | undefined): boolean {
  return before?.definition !== after?.definition || !isDeepStrictEqual(stateOf(before), stateOf(after));
}

/** The part of the state that decides about objects. */
function stateOf(loaded: LoadedProvider | undefined): unknown {
  if (loaded === undefined) return undefined;
  const {
    resourceVersion: _version,
    generation: _generation,
    hasFinalizer: _finalizer,
    deletions: _deletions,
    ...rest
  } = loaded.state;
  return rest;
}
