// Counts the undesired objects of each provider: live objects that the provider owns but no longer wants.
import { isManaged } from '../../policy/desired/desired.ts';
import { isUnwanted } from '../../policy/plan/plan.ts';
import { namespaceOfProvider, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import type { DesiredCache } from '../namespace/desired-cache.ts';

export interface UndesiredCountsOptions {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'subscribe'>;
  readonly objects: ObservedObjects;
  readonly desiredCache: DesiredCache;
}

type Counts = ReadonlyMap<ProviderId, number>;

/** Counts again lazily, and only the namespaces with a change. */
export class UndesiredCounts {
  readonly #options: UndesiredCountsOptions;
  readonly #counts = new Map<string, Counts>();
  readonly #totals = new Map<ProviderId, number>();
  readonly #stale = new Set<string>();

  constructor(options: UndesiredCountsOptions) {
    this.#options = options;
    const { cluster, objects } = options;
    objects.subscribe({ changed: ({ namespace }) => this.#stale.add(namespace) });
    cluster.subscribe((change) => {
      if (change.kind === 'namespace') this.#stale.add(change.name);
      else if (change.affectsNamespaces) this.#providerChanged(change.id);
    });
  }

  /** Another provider can take an object over, so a change of one provider can change the counts of others. */
  #providerChanged(id: ProviderId): void {
    const namespace = namespaceOfProvider(id);
    this.recount(namespace === undefined ? this.#options.objects.namespaces() : [namespace]);
  }

  recount(namespaces: Iterable<string>): void {
    for (const namespace of namespaces) this.#stale.add(namespace);
  }

  /** Objects of the provider that would be deleted if the fuse allowed it. */
  of(provider: ProviderId): number {
    for (const namespace of this.#stale) this.#countAgain(namespace);
    this.#stale.clear();
    return this.#totals.get(provider) ?? 0;
  }

  #countAgain(namespace: string): void {
    for (const [provider, count] of this.#counts.get(namespace) ?? []) this.#add(provider, -count);
    const counts = this.#countIn(namespace);
    for (const [provider, count] of counts) this.#add(provider, count);
    if (counts.size === 0) this.#counts.delete(namespace);
    else this.#counts.set(namespace, counts);
  }

  #countIn(namespace: string): Counts {
    const { cluster, objects, desiredCache } = this.#options;
    const ours = objects.ours(namespace);
    const snapshot = cluster.snapshot();
    const namespaceObject = ours.length === 0 ? undefined : snapshot.namespace(namespace);
    if (namespaceObject === undefined || !isManaged(namespaceObject, snapshot)) return new Map();
    const desired = desiredCache.of(namespaceObject);
    const counts = new Map<ProviderId, number>();
    for (const live of ours) {
      if (isUnwanted(live, { desired, snapshot })) counts.set(live.owner, (counts.get(live.owner) ?? 0) + 1);
    }
    return counts;
  }

  #add(provider: ProviderId, count: number): void {
    const total = (this.#totals.get(provider) ?? 0) + count;
    if (total === 0) this.#totals.delete(provider);
    else this.#totals.set(provider, total);
  }
}
