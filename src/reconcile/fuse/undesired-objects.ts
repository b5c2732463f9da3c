// Finds undesired objects: a provider owns them but no longer wants them. Caches the desired objects of each Namespace.
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import {
  activeProvider,
  desiredByProvider,
  isManaged,
  desired,
  type Desired,
} from '../../policy/desired/desired.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import { isUnwanted } from '../../policy/plan/plan.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { namespaceOfProvider, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { PlanContext } from '../ports.ts';
import type { ProviderChange } from '../../state/live-cluster.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';

interface UndesiredListener {
  /** `isReviewed`: a change of the spec dropped the object, so a review has counted it. */
  readonly joined: (provider: ProviderId, live: Observed, isReviewed: boolean) => void;
  /** Called when the object is wanted again, deleted, or kept for another reason. */
  readonly left: (provider: ProviderId, live: Observed) => void;
}

type ByUid = Map<string, Observed & { readonly owner: ProviderId }>;

/** A process with more versions of one spec between two searches does not lead. */
const maxVersions = 8;

/** Searches lazily, and only in the namespaces with a change. */
export class UndesiredObjects {
  readonly #context: PlanContext;
  readonly #objects: ObservedObjects;
  readonly #desiredCache: DesiredCache;
  readonly #found = new Map<string, ByUid>();
  readonly #byProvider = new Map<ProviderId, ByUid>();
  readonly #stale = new Set<string>();
  /** The versions of each provider that a change of the spec ended since the last search. */
  readonly #replaced = new Map<ProviderId, ProviderDefinition[]>();
  #listener: UndesiredListener | undefined;

  constructor(context: PlanContext, objects: ObservedObjects, desiredCache: DesiredCache) {
    this.#context = context;
    this.#objects = objects;
    this.#desiredCache = desiredCache;
    objects.subscribe({ changed: ({ namespace }) => this.#stale.add(namespace) });
    context.cluster.subscribe({
      namespace: ({ name }) => this.#stale.add(name),
      affecting: (change) => this.#providerChanged(change),
    });
  }

  /** The listener is called during `of`. */
  listen(listener: UndesiredListener): void {
    this.#listener = listener;
  }

  /** Forgets everything. No object in these namespaces counts as reviewed. */
  begin(namespaces: Iterable<string>): void {
    for (const known of [this.#found, this.#byProvider, this.#replaced]) known.clear();
    for (const namespace of namespaces) this.#stale.add(namespace);
  }

  /** Returns the objects of the provider that Reeve would delete if the fuse allowed it, by UID. */
  of(provider: ProviderId): ReadonlyMap<string, Observed> {
    const replaced = new Map(this.#replaced);
    this.#replaced.clear();
    const stale = [...this.#stale];
    this.#stale.clear();
    for (const namespace of stale) this.#searchAgain(namespace, replaced);
    return this.#byProvider.get(provider) ?? new Map();
  }

  /** Returns the objects of the last search. */
  known(provider: ProviderId): readonly Observed[] {
    return [...(this.#byProvider.get(provider)?.values() ?? [])];
  }

  /** Marks the namespaces of a changed provider. Objects of others can change, because a provider can take objects over. */
  #providerChanged({ id, before, after }: ProviderChange): void {
    const namespace = namespaceOfProvider(id);
    for (const each of namespace === undefined ? this.#objects.namespaces() : [namespace])
      this.#stale.add(each);
    if (before?.standing !== 'loaded' || before.definition === undefined) return;
    if (before.state.uid !== after?.state.uid || before.state.generation === after.state.generation) return;
    const versions = this.#replaced.get(id) ?? [];
    this.#replaced.set(id, [...versions, before.definition].slice(-maxVersions));
  }

  #searchAgain(namespace: string, replaced: ReadonlyMap<ProviderId, readonly ProviderDefinition[]>): void {
    const before: ByUid = this.#found.get(namespace) ?? new Map();
    const found = this.#searchIn(namespace);
    if (found.size === 0) this.#found.delete(namespace);
    else this.#found.set(namespace, found);
    for (const [uid, live] of before) {
      if (found.get(uid)?.owner === live.owner) continue;
      this.#ofProvider(live.owner).delete(uid);
      this.#listener?.left(live.owner, live);
    }
    for (const [uid, live] of found) {
      this.#ofProvider(live.owner).set(uid, live);
      if (before.get(uid)?.owner === live.owner) continue;
      this.#listener?.joined(live.owner, live, this.#isReviewed(live, replaced.get(live.owner) ?? []));
    }
  }

  #searchIn(namespace: string): ByUid {
    const { cluster } = this.#context;
    const ours = this.#objects.ours(namespace);
    const snapshot = cluster.snapshot();
    const namespaceObject = ours.length === 0 ? undefined : snapshot.namespace(namespace);
    if (namespaceObject === undefined || !isManaged(namespaceObject, snapshot)) return new Map();
    const wanted = this.#desiredCache.of(namespaceObject);
    const found: ByUid = new Map();
    for (const live of ours) if (isUnwanted(live, { desired: wanted, snapshot })) found.set(live.uid, live);
    return found;
  }

  /**
   * Returns true if the review of the change has counted the object: the older version wants it, and the newer does not. In a
   * namespace that the older version does not match, nothing was counted. For example, the namespace has lost its label.
   */
  #isReviewed({ namespace, key }: Observed, versions: readonly ProviderDefinition[]): boolean {
    const { cluster, clock } = this.#context;
    const namespaceObject = cluster.snapshot().namespace(namespace);
    if (namespaceObject === undefined) return false;
    return versions.some((version) =>
      desiredByProvider(activeProvider(version), namespaceObject, clock.now(), unlimitedBudget).claims.has(
        key,
      ),
    );
  }

  #ofProvider(provider: ProviderId): ByUid {
    const known = this.#byProvider.get(provider);
    if (known !== undefined) return known;
    const created: ByUid = new Map();
    this.#byProvider.set(provider, created);
    return created;
  }
}

// Caches the desired objects of each Namespace.

interface Entry {
  readonly version: number;
  readonly ownVersion: number;
  readonly desired: Desired;
}

/** An entry is valid for one state of the Namespace and of all providers, until its next expiry. */
export class DesiredCache {
  readonly #context: PlanContext;
  /** A changed Namespace is a new object, so its old entry is never found again. */
  readonly #entries = new WeakMap<KubeObject, Entry>();
  /** Counts the changes of providers that can match any namespace. */
  #version = 0;
  /** Counts the changes of a namespace's own bindings, which cannot concern other namespaces. */
  readonly #ownVersions = new Map<string, number>();

  constructor(context: PlanContext) {
    this.#context = context;
    context.cluster.subscribe({
      namespace: ({ name, after }) => {
        if (after === undefined) this.#ownVersions.delete(name);
      },
      affecting: ({ id }) => this.#providerChanged(id),
    });
  }

  of(namespaceObject: KubeObject): Desired {
    const { cluster, clock } = this.#context;
    const now = clock.now();
    const entry = this.#entries.get(namespaceObject);
    const version = this.#version;
    const ownVersion = this.#ownVersions.get(nameOf(namespaceObject)) ?? 0;
    const isCurrent = entry?.version === version && entry.ownVersion === ownVersion;
    if (isCurrent && now.getTime() < (entry.desired.nextExpiry ?? Infinity)) return entry.desired;
    const fresh = desired(namespaceObject, cluster.snapshot(), now);
    this.#entries.set(namespaceObject, { version, ownVersion, desired: fresh });
    return fresh;
  }

  #providerChanged(id: ProviderId): void {
    const namespace = namespaceOfProvider(id);
    if (namespace === undefined) this.#version += 1;
    else this.#ownVersions.set(namespace, (this.#ownVersions.get(namespace) ?? 0) + 1);
  }
}
