// Policies and shares as their watches tell of them: how each stands, and all that are in force.
import { apiVersion } from '../api/names.ts';
import {
  providerId,
  type ProviderId,
  type ProviderKind,
  type ProviderState,
} from '../policy/terms/provider-id.ts';
import { ObjectStore } from './object-store.ts';
import { loadStored, type LoadedProvider, type Standing } from './stored-provider.ts';
import type { CompiledPolicy } from '../policy/compile/compile-policy.ts';
import type { CompiledShare } from '../policy/compile/compile-share.ts';
import { PolicySet, ShareSet } from '../policy/compile/snapshot.ts';

export interface ProviderChange {
  readonly kind: 'owner';
  readonly id: ProviderId;
  readonly before: LoadedProvider | undefined;
  /** Has another UID than `before` when the provider was deleted and created again. */
  readonly after: LoadedProvider | undefined;
}

export type ProviderCounts = Readonly<Record<ProviderKind, Readonly<Record<Standing, number>>>>;

interface OwnersView {
  readonly policies: PolicySet;
  readonly shares: ShareSet;
  readonly owners: ReadonlyMap<ProviderId, ProviderState>;
}

export class LiveProviders {
  readonly policies: ObjectStore<LoadedProvider>;
  readonly shares: ObjectStore<LoadedProvider>;
  readonly #excludedNamespaces: readonly string[];
  readonly #changed: (changes: readonly ProviderChange[]) => void;
  // Made when they are asked for: a burst of changes costs one of each.
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

  of(id: ProviderId): ObjectStore<LoadedProvider> {
    return id.startsWith('NamespacePolicy/') ? this.policies : this.shares;
  }

  *all(): Generator<LoadedProvider> {
    yield* this.policies.values();
    yield* this.shares.values();
  }

  view(): OwnersView {
    const excludedNamespaces = this.#excludedNamespaces;
    this.#policySet ??= new PolicySet(policiesIn(this.policies), { excludedNamespaces });
    this.#shareSet ??= new ShareSet(sharesIn(this.shares));
    const owners = new Map([...this.all()].map(({ state }) => [state.id, state] as const));
    return { policies: this.#policySet, shares: this.#shareSet, owners };
  }

  counts(): ProviderCounts {
    return { NamespacePolicy: countsOf(this.policies), SecretShare: countsOf(this.shares) };
  }

  /** A set outlives everything but a change of what is in force: a status that is written, for one. */
  #store(kind: ProviderKind, forgetSet: () => void): ObjectStore<LoadedProvider> {
    return new ObjectStore<LoadedProvider>({
      apiVersion,
      kind,
      read: (object, before) => loadStored(kind, object, before),
      changed: (changes) => {
        if (changes.some(({ before, after }) => before?.definition !== after?.definition)) forgetSet();
        this.#changed(
          changes.map(({ name, before, after }) => ({
            kind: 'owner',
            id: providerId(kind, name),
            before,
            after,
          })),
        );
      },
    });
  }
}

function policiesIn(store: ObjectStore<LoadedProvider>): readonly CompiledPolicy[] {
  return [...store.values()].flatMap(({ definition }) =>
    definition?.kind === 'NamespacePolicy' ? [definition.compiled] : [],
  );
}

function sharesIn(store: ObjectStore<LoadedProvider>): readonly CompiledShare[] {
  return [...store.values()].flatMap(({ definition }) =>
    definition?.kind === 'SecretShare' ? [definition.compiled] : [],
  );
}

function countsOf(store: ObjectStore<LoadedProvider>): Readonly<Record<Standing, number>> {
  const counts = { loaded: 0, 'last-good': 0, refused: 0 };
  for (const { standing } of store.values()) counts[standing] += 1;
  return counts;
}
