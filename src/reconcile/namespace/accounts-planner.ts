// Plans the fields that policies add to ServiceAccounts of other owners in one namespace.
import type { Desired } from '../../policy/desired/desired.ts';
import type { FieldsFate } from '../../policy/plan/next-account.ts';
import { planAccount, type AccountPlan } from '../../policy/plan/plan-account.ts';
import { isFrozen } from '../../policy/plan/precedence.ts';
import type { ObjectKey } from '../../policy/terms/object-key.ts';
import { kindOfProvider, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { Fuse } from '../fuse/fuse.ts';
import type { ObservedAccounts } from '../live/observed-accounts.ts';

export interface AccountsPlannerOptions {
  readonly accounts: ObservedAccounts;
  readonly cluster: Pick<LiveCluster, 'snapshot'>;
  readonly fuse: Pick<Fuse, 'isPrepared' | 'prepare' | 'verdictOf'>;
}

export class AccountsPlanner {
  readonly #options: AccountsPlannerOptions;

  constructor(options: AccountsPlannerOptions) {
    this.#options = options;
  }

  /** Returns the accounts that policies add fields to, and those that still have such fields. */
  keysIn(namespace: string, desired: Desired): ReadonlySet<ObjectKey> {
    const marked = this.#options.accounts.markedIn(namespace).map(({ key }) => key);
    return new Set([...desired.fields.keys(), ...marked]);
  }

  /** The fuse must know of each policy that is being deleted whether its whole kind is. */
  async prepare(signal: AbortSignal): Promise<void> {
    const { cluster, fuse } = this.#options;
    const deleting = [...cluster.snapshot().providers.values()].flatMap(({ id, isDeleting }) =>
      isDeleting && addsFields(id) ? [id] : [],
    );
    if (!fuse.isPrepared(deleting)) await fuse.prepare(deleting, signal);
  }

  plan(namespace: string, key: ObjectKey, desired: Desired): AccountPlan {
    const { accounts, cluster } = this.#options;
    const snapshot = cluster.snapshot();
    return planAccount({
      live: accounts.get(namespace, key),
      claims: desired.fields.get(key) ?? [],
      whole: desired.claims.get(key)?.[0]?.provider,
      providers: () => [...snapshot.providers.keys()].filter(addsFields),
      freezeOf: (provider) => desired.frozen.get(provider),
      fateOf: (provider) => this.#fateOf(provider, desired),
    });
  }

  /** Taking fields back deletes nothing, so the fuse holds nothing back. What it releases stays, as objects do. */
  #fateOf(provider: ProviderId, desired: Desired): FieldsFate {
    const { cluster, fuse } = this.#options;
    if (isFrozen(provider, { snapshot: cluster.snapshot(), desired })) return 'kept';
    const { kind } = fuse.verdictOf(provider);
    if (kind === 'unknown') return 'kept';
    return kind === 'release' ? 'released' : 'removed';
  }
}

function addsFields(provider: ProviderId): boolean {
  return kindOfProvider(provider) !== 'SecretShare';
}
