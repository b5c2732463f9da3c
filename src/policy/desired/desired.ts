// What one namespace is to contain: the union of what all policies, then all shares, provide, in the order of their names.
import type { KubeObject } from '../../base/kube-object.ts';
import { unlimitedBudget, type Budget } from '../terms/budget.ts';
import { matchNamespace } from '../terms/match.ts';
import { isTerminating, nameOf } from '../../base/metadata.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { objectKey, type ObjectKey } from '../compile/object-key.ts';
import { policyProvider, shareProvider, type Provider, type Claim, type ProvidedObject } from './provider.ts';

/** Why the objects of an owner in the namespace stay as they are, whatever it wants. */
export interface Freeze {
  readonly reason: 'Suspended' | 'MatchFailed' | 'RenderFailed';
  readonly message: string;
}

export interface Desired {
  /** Who wants each object, the one that gets it first. */
  readonly claims: ReadonlyMap<ObjectKey, readonly Claim[]>;
  readonly frozen: ReadonlyMap<ProviderId, Freeze>;
  /** What each owner wanted until its time was over. */
  readonly expired: ReadonlyMap<ProviderId, ReadonlySet<ObjectKey>>;
  /** When the next object expires, in milliseconds since the epoch. */
  readonly nextExpiry: number | undefined;
  /** The policies and shares that match the namespace and provide something. */
  readonly providers: readonly ProviderId[];
}

/** Nothing at all for a namespace that is excluded or on its way out: whatever is there is left alone. */
export function desired(
  namespaceObject: KubeObject,
  snapshot: ClusterSnapshot,
  now: Date,
  budget: Budget = unlimitedBudget,
): Desired {
  const union = new Union(now.getTime());
  if (!isManaged(namespaceObject, snapshot)) return union;
  for (const provider of providersOf(namespaceObject, snapshot)) {
    union.add(provider, namespaceObject, budget);
  }
  return union;
}

export function isManaged(namespaceObject: KubeObject, { policies }: ClusterSnapshot): boolean {
  return !isTerminating(namespaceObject) && !policies.isExcluded(nameOf(namespaceObject));
}

/** One that does not load, or is being deleted, claims nothing; what becomes of its objects is decided for each of them. */
function providersOf(namespaceObject: KubeObject, snapshot: ClusterSnapshot): readonly Provider[] {
  const objects = [namespaceObject];
  const providers = [
    ...snapshot.policies
      .candidates('namespaces', objects)
      .filter(({ contents }) => contents.length > 0)
      .map(policyProvider),
    ...snapshot.shares.candidates(objects).map(shareProvider),
  ];
  return providers.filter(({ id }) => {
    const state = snapshot.owners.get(id);
    return state === undefined || (state.isValid && !state.isDeleting);
  });
}

class Union implements Desired {
  readonly claims = new Map<ObjectKey, Claim[]>();
  readonly frozen = new Map<ProviderId, Freeze>();
  readonly expired = new Map<ProviderId, Set<ObjectKey>>();
  readonly providers: ProviderId[] = [];
  nextExpiry: number | undefined;
  readonly #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  add(provider: Provider, namespaceObject: KubeObject, budget: Budget): void {
    const match = matchNamespace(provider.match, namespaceObject, budget);
    if (match.kind === 'no') return;
    this.providers.push(provider.id);
    if (match.kind === 'error') {
      const message = `match condition ${match.condition}: ${match.message}`;
      this.frozen.set(provider.id, { reason: 'MatchFailed', message });
      return;
    }
    for (const rendered of provider.render(namespaceObject, budget)) {
      if (rendered.kind === 'error') {
        this.frozen.set(provider.id, { reason: 'RenderFailed', message: rendered.message });
      } else if (rendered.kind === 'present') this.#claim(provider.id, rendered.value);
    }
    if (provider.isSuspended) this.frozen.set(provider.id, suspended);
  }

  #claim(owner: ProviderId, { expiresAt, ...wanted }: ProvidedObject): void {
    const key = objectKey(wanted.type, wanted.name);
    if (expiresAt !== undefined && expiresAt <= this.#now) {
      this.expired.set(owner, (this.expired.get(owner) ?? new Set()).add(key));
      return;
    }
    if (expiresAt !== undefined) this.nextExpiry = Math.min(this.nextExpiry ?? expiresAt, expiresAt);
    const claims = this.claims.get(key) ?? [];
    // Two contents of one policy can come to the same name; the first one counts.
    if (claims.some((claim) => claim.owner === owner)) return;
    this.claims.set(key, [...claims, { owner, key, ...wanted }]);
  }
}

const suspended: Freeze = {
  reason: 'Suspended',
  message: 'it is suspended: nothing is made, changed or deleted',
};

/** What one owner alone would want in the namespace; for comparing two versions of it. */
export function claimedKeys(
  provider: Provider,
  namespaceObject: KubeObject,
  now: Date,
  budget: Budget,
): Desired {
  const union = new Union(now.getTime());
  union.add(provider, namespaceObject, budget);
  return union;
}
