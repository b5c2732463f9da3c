// Keeps the policies, shares and Namespaces that the watches report, as the engine's view of the cluster.
import type { KubeObject } from '../base/kube-object.ts';
import { Listeners, type ListenerOptions } from '../base/listeners.ts';
import type { WatchSink } from '../base/watch-sink.ts';
import { nameOfProvider, type ProviderId } from '../policy/terms/provider-id.ts';
import { withoutIntents, type ClusterSnapshot } from '../policy/compile/snapshot.ts';
import { LiveProviders, type ProviderChange, type ProviderCounts } from './live-providers.ts';
import { ObjectCache } from './object-cache.ts';
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
  /** Sinks for the watches. */
  readonly policies: WatchSink;
  readonly shares: WatchSink;
  readonly namespaces: WatchSink;
  readonly #providers: LiveProviders;
  readonly #namespaces: ObjectCache<KubeObject>;
  readonly #listeners = new Listeners<(change: ClusterChange) => void>();
  #snapshot: ClusterSnapshot | undefined;
  #version = 0;

  constructor({ excludedNamespaces }: LiveClusterOptions) {
    this.#providers = new LiveProviders(excludedNamespaces, (changes) => {
      this.#snapshot = undefined;
      this.#tell(changes);
    });
    this.#namespaces = new ObjectCache<KubeObject>({
      apiVersion: 'v1',
      kind: 'Namespace',
      read: (object) => object,
      changed: (changes) => this.#tell(changes.map((change) => ({ kind: 'namespace', ...change }))),
    });
    this.policies = this.#providers.policies;
    this.shares = this.#providers.shares;
    this.namespaces = this.#namespaces;
  }

  /** True once the initial sync of every watch is done. */
  get isSynced(): boolean {
    return this.#providers.isSynced && this.#namespaces.isSynced;
  }

  /** Counts up with every change that `snapshot()` can show. */
  get version(): number {
    return this.#version;
  }

  /**
   * The policies and shares of a snapshot never change. Namespaces are not copied, so they change with the cluster: a
   * decision that must see one state of all namespaces must not wait in between.
   */
  snapshot(): ClusterSnapshot {
    this.#snapshot ??= {
      ...this.#providers.view(),
      intents: withoutIntents,
      namespace: (name) => this.#namespaces.get(name),
      namespaces: () => this.#namespaces.values(),
    };
    return this.#snapshot;
  }

  /** Returns the state and the problems of a stored policy or share. */
  provider(id: ProviderId): LoadedProvider | undefined {
    return this.#providers.of(id).get(nameOfProvider(id));
  }

  providers(): Iterable<LoadedProvider> {
    return this.#providers.all();
  }

  /** For metrics. */
  providerCounts(): ProviderCounts {
    return this.#providers.counts();
  }

  /** Calls the listener for each change, once the whole watch event or list is stored. Returns the unsubscriber. */
  subscribe(listener: (change: ClusterChange) => void, options?: ListenerOptions): () => void {
    return this.#listeners.add(listener, options);
  }

  #tell(changes: readonly ClusterChange[]): void {
    this.#version += changes.length;
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }
}
