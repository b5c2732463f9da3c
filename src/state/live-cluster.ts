// The engine's view of a cluster that changes: policies, shares and Namespaces, as their watches tell of them.
import type { KubeObject } from '../base/kube-object.ts';
import type { WatchSink } from '../base/watch-sink.ts';
import { nameOfProvider, type ProviderId } from '../policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import { LiveProviders, type ProviderChange, type ProviderCounts } from './live-providers.ts';
import { ObjectStore } from './object-store.ts';
import type { LoadedProvider } from './stored-provider.ts';

export interface LiveClusterOptions {
  /** Never matched, whatever a policy or share says. */
  readonly excludedNamespaces: readonly string[];
}

/** One change. A deleted object has only `before`, a new object only `after`. */
export type ClusterChange = NamespaceChange | ProviderChange;

export interface NamespaceChange {
  readonly kind: 'namespace';
  readonly name: string;
  readonly before: KubeObject | undefined;
  /** Has another UID than `before` when the namespace was deleted and created again. */
  readonly after: KubeObject | undefined;
}

export class LiveCluster {
  /** For the watches to tell what there is. */
  readonly policies: WatchSink;
  readonly shares: WatchSink;
  readonly namespaces: WatchSink;
  readonly #owners: LiveProviders;
  readonly #namespaces: ObjectStore<KubeObject>;
  readonly #listeners = new Set<(change: ClusterChange) => void>();
  #snapshot: ClusterSnapshot | undefined;
  #version = 0;

  constructor({ excludedNamespaces }: LiveClusterOptions) {
    this.#owners = new LiveProviders(excludedNamespaces, (changes) => {
      this.#snapshot = undefined;
      this.#tell(changes);
    });
    this.#namespaces = new ObjectStore<KubeObject>({
      apiVersion: 'v1',
      kind: 'Namespace',
      read: (object) => object,
      changed: (changes) => this.#tell(changes.map((change) => ({ kind: 'namespace', ...change }))),
    });
    this.policies = this.#owners.policies;
    this.shares = this.#owners.shares;
    this.namespaces = this.#namespaces;
  }

  /** True once the initial sync of every watch is done. */
  get isSynced(): boolean {
    return this.#owners.isSynced && this.#namespaces.isSynced;
  }

  /** Counts up with every change that `snapshot()` can show. */
  get version(): number {
    return this.#version;
  }

  /**
   * Policies, shares and owners stay as they are now. Namespaces are never copied: those that the snapshot shows
   * change with the cluster, so a decision that has to see one state of them must not wait in between.
   */
  snapshot(): ClusterSnapshot {
    this.#snapshot ??= {
      ...this.#owners.view(),
      namespace: (name) => this.#namespaces.get(name),
      namespaces: () => this.#namespaces.values(),
    };
    return this.#snapshot;
  }

  /** How a stored policy or share stands, and what is wrong with it. */
  owner(id: ProviderId): LoadedProvider | undefined {
    return this.#owners.of(id).get(nameOfProvider(id));
  }

  owners(): Iterable<LoadedProvider> {
    return this.#owners.all();
  }

  /** For metrics. */
  providerCounts(): ProviderCounts {
    return this.#owners.counts();
  }

  /** Told of each change after all the news that it came with has been taken in; the result ends that. */
  subscribe(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(changes: readonly ClusterChange[]): void {
    this.#version += changes.length;
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }
}
