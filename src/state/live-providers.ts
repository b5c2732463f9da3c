// Keeps the policies and shares that the watches report: the state of each, and the sets in force.
import { isDeepStrictEqual } from 'node:util';
import { apiVersion } from '../api/names.ts';
import { providerId, type ProviderId, type ProviderState } from '../policy/terms/provider-id.ts';
import { ObjectCache } from './object-cache.ts';
import { loadStored, type LoadedProvider, type Standing } from './stored-provider.ts';
import type { CompiledPolicy } from '../policy/compile/compile-policy.ts';
import type { CompiledShare } from '../policy/compile/compile-share.ts';
import type { ProviderForm } from '../policy/compile/load-provider.ts';
import { PolicySet, ShareSet } from '../policy/compile/snapshot.ts';

export interface ProviderChange {
  readonly kind: 'provider';
  readonly id: ProviderId;
  readonly before: LoadedProvider | undefined;
  /** Has another UID than `before` when the provider was deleted and created again. */
  readonly after: LoadedProvider | undefined;
  /** True when the change can change objects in namespaces. A written status cannot. */
  readonly affectsNamespaces: boolean;
}

export type ProviderCounts = Readonly<Record<ProviderForm, Readonly<Record<Standing, number>>>>;

interface ProvidersView {
  readonly policies: PolicySet;
  readonly shares: ShareSet;
  readonly providers: ReadonlyMap<ProviderId, ProviderState>;
}

export class LiveProviders {
  readonly policies: ObjectCache<LoadedProvider>;
  readonly shares: ObjectCache<LoadedProvider>;
  readonly #excludedNamespaces: readonly string[];
  readonly #changed: (changes: readonly ProviderChange[]) => void;
  // Built on first use, so that a burst of changes builds each set once.
  #policySet: PolicySet | undefined;
  #shareSet: ShareSet | undefined;

  constructor(excludedNamespaces: readonly string[], changed: (changes: readonly ProviderChange[]) => void) {
    this.#excludedNamespaces = excludedNamespaces;
    this.#changed = changed;
    this.policies = this.#store('NamespacePolicy', () => (this.#policySet = undefined));
    this.shares = this.#store('SecretShare', () => (this.#shareSet = undefined));
  }

  get isSynced(): boolean {
    return this.policies.isSynced && this.shares.isSynced;
  }

  of(id: ProviderId): ObjectCache<LoadedProvider> {
    return id.startsWith('NamespacePolicy/') ? this.policies : this.shares;
  }

  *all(): Generator<LoadedProvider> {
    yield* this.policies.values();
    yield* this.shares.values();
  }

  view(): ProvidersView {
    const excludedNamespaces = this.#excludedNamespaces;
    this.#policySet ??= new PolicySet(policiesIn(this.policies), { excludedNamespaces });
    this.#shareSet ??= new ShareSet(sharesIn(this.shares));
    const providers = new Map([...this.all()].map(({ state }) => [state.id, state] as const));
    return { policies: this.#policySet, shares: this.#shareSet, providers };
  }

  counts(): ProviderCounts {
    return { NamespacePolicy: countsOf(this.policies), SecretShare: countsOf(this.shares) };
  }

  /** Only a changed definition discards the set; a written status, for one, does not. */
  #store(kind: ProviderForm, forgetSet: () => void): ObjectCache<LoadedProvider> {
    return new ObjectCache<LoadedProvider>({
      apiVersion,
      kind,
      read: (object, before) => loadStored(kind, object, before),
      changed: (changes) => {
        if (changes.some(({ before, after }) => before?.definition !== after?.definition)) forgetSet();
        this.#changed(
          changes.map(({ name, before, after }) => ({
            kind: 'provider',
            id: providerId(kind, name),
            before,
            after,
            affectsNamespaces: affectsNamespaces(before, after),
          })),
        );
      },
    });
  }
}

function policiesIn(store: ObjectCache<LoadedProvider>): readonly CompiledPolicy[] {
  return [...store.values()].flatMap(({ definition }) =>
    definition?.kind === 'NamespacePolicy' ? [definition.compiled] : [],
  );
}

function sharesIn(store: ObjectCache<LoadedProvider>): readonly CompiledShare[] {
  return [...store.values()].flatMap(({ definition }) =>
    definition?.kind === 'SecretShare' ? [definition.compiled] : [],
  );
}

function countsOf(store: ObjectCache<LoadedProvider>): Readonly<Record<Standing, number>> {
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
    ...rest
  } = loaded.state;
  return rest;
}
