// Counts, for every owner, its live objects that are not desired any more; only namespaces that changed are counted anew.
import type { KubeObject } from '../../base/kube-object.ts';
import type { Desired } from '../../policy/desired/desired.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import { isUnwanted } from '../../policy/plan/plan.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';

export interface CensusOptions {
  readonly snapshot: () => ClusterSnapshot;
  readonly desiredOf: (namespaceObject: KubeObject) => Desired;
  readonly oursIn: (namespace: string) => readonly Observed[];
}

type Counts = ReadonlyMap<ProviderId, number>;

export class Census {
  readonly #options: CensusOptions;
  readonly #counts = new Map<string, Counts>();
  readonly #totals = new Map<ProviderId, number>();
  readonly #stale = new Set<string>();

  constructor(options: CensusOptions) {
    this.#options = options;
  }

  /** The namespace, or something in it, or what it is to contain, has changed. */
  touch(namespace: string): void {
    this.#stale.add(namespace);
  }

  /** Objects of the owner that would be deleted if the fuse let them. */
  outstanding(owner: ProviderId): number {
    for (const namespace of this.#stale) this.#recount(namespace);
    this.#stale.clear();
    return this.#totals.get(owner) ?? 0;
  }

  #recount(namespace: string): void {
    for (const [owner, count] of this.#counts.get(namespace) ?? []) this.#add(owner, -count);
    const counts = this.#countIn(namespace);
    for (const [owner, count] of counts) this.#add(owner, count);
    if (counts.size === 0) this.#counts.delete(namespace);
    else this.#counts.set(namespace, counts);
  }

  #countIn(namespace: string): Counts {
    const ours = this.#options.oursIn(namespace);
    const snapshot = this.#options.snapshot();
    const namespaceObject = ours.length === 0 ? undefined : snapshot.namespace(namespace);
    if (namespaceObject === undefined || !isManaged(namespaceObject, snapshot)) return new Map();
    const desired = this.#options.desiredOf(namespaceObject);
    const counts = new Map<ProviderId, number>();
    for (const live of ours) {
      if (isUnwanted(live, { desired, snapshot })) counts.set(live.owner, (counts.get(live.owner) ?? 0) + 1);
    }
    return counts;
  }

  #add(owner: ProviderId, count: number): void {
    const total = (this.#totals.get(owner) ?? 0) + count;
    if (total === 0) this.#totals.delete(owner);
    else this.#totals.set(owner, total);
  }
}
