// Policies and shares as their watches tell of them: how each stands, and all that are in force.
import { apiVersion } from '../api/names.ts';
import type { CompiledPolicy } from '../policy/compiled-policy.ts';
import type { CompiledShare } from '../policy/compiled-share.ts';
import { ownerId, type OwnerId, type OwnerKind, type OwnerState } from '../policy/owner.ts';
import { PolicySet } from '../policy/policy-set.ts';
import { ShareSet } from '../policy/share-set.ts';
import { ObjectStore } from './object-store.ts';
import { loadStored, type LoadedOwner, type Standing } from './stored-owner.ts';

export interface OwnerChange {
  readonly kind: 'owner';
  readonly id: OwnerId;
  readonly before: LoadedOwner | undefined;
  /** Of another UID than `before` when it has been deleted and made again. */
  readonly after: LoadedOwner | undefined;
}

export type OwnerCounts = Readonly<Record<OwnerKind, Readonly<Record<Standing, number>>>>;

interface OwnersView {
  readonly policies: PolicySet;
  readonly shares: ShareSet;
  readonly owners: ReadonlyMap<OwnerId, OwnerState>;
}

export class LiveOwners {
  readonly policies: ObjectStore<LoadedOwner>;
  readonly shares: ObjectStore<LoadedOwner>;
  readonly #excludedNamespaces: readonly string[];
  readonly #changed: (changes: readonly OwnerChange[]) => void;
  // Made when they are asked for: a burst of changes costs one of each.
  #policySet: PolicySet | undefined;
  #shareSet: ShareSet | undefined;

  constructor(excludedNamespaces: readonly string[], changed: (changes: readonly OwnerChange[]) => void) {
    this.#excludedNamespaces = excludedNamespaces;
    this.#changed = changed;
    this.policies = this.#store('NamespacePolicy', () => (this.#policySet = undefined));
    this.shares = this.#store('SecretShare', () => (this.#shareSet = undefined));
  }

  get isSynced(): boolean {
    return this.policies.isSynced && this.shares.isSynced;
  }

  of(id: OwnerId): ObjectStore<LoadedOwner> {
    return id.startsWith('NamespacePolicy/') ? this.policies : this.shares;
  }

  *all(): Generator<LoadedOwner> {
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

  counts(): OwnerCounts {
    return { NamespacePolicy: countsOf(this.policies), SecretShare: countsOf(this.shares) };
  }

  /** A set outlives everything but a change of what is in force: a status that is written, for one. */
  #store(kind: OwnerKind, forgetSet: () => void): ObjectStore<LoadedOwner> {
    return new ObjectStore<LoadedOwner>({
      apiVersion,
      kind,
      read: (object, before) => loadStored(kind, object, before),
      changed: (changes) => {
        if (changes.some(({ before, after }) => before?.definition !== after?.definition)) forgetSet();
        this.#changed(
          changes.map(({ name, before, after }) => ({
            kind: 'owner',
            id: ownerId(kind, name),
            before,
            after,
          })),
        );
      },
    });
  }
}

function policiesIn(store: ObjectStore<LoadedOwner>): readonly CompiledPolicy[] {
  return [...store.values()].flatMap(({ definition }) =>
    definition?.kind === 'NamespacePolicy' ? [definition.compiled] : [],
  );
}

function sharesIn(store: ObjectStore<LoadedOwner>): readonly CompiledShare[] {
  return [...store.values()].flatMap(({ definition }) =>
    definition?.kind === 'SecretShare' ? [definition.compiled] : [],
  );
}

function countsOf(store: ObjectStore<LoadedOwner>): Readonly<Record<Standing, number>> {
  const counts = { loaded: 0, 'last-good': 0, refused: 0 };
  for (const { standing } of store.values()) counts[standing] += 1;
  return counts;
}
