// Keeps the providers, intents and Namespaces that the watches report, as the engine's view of the cluster.
import type { KubeObject } from '../base/metadata.ts';
import { Listeners, type ListenerOptions } from '../base/listeners.ts';
import type { WatchSink } from '../base/watch-sink.ts';
import type { ObjectType } from '../policy/terms/object-key.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import type { InstalledAdapters } from './live-intents.ts';
import { LiveProviders, type ProviderChange, type ProviderCounts } from './live-providers.ts';
import { ObjectCache } from './object-cache.ts';
import type { LoadedProvider } from './stored-provider.ts';

interface LiveClusterOptions {
  /** Never matched, whatever a provider says. */
  readonly excludedNamespaces: readonly string[];
  /** Default: none, so that no intent is supported. */
  readonly adapters?: InstalledAdapters;
  /** Called when intents were removed: `setIntentKind` must follow. Default: a person deleted them. */
  readonly intentsRemoved?: () => void;
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

const noAdapters: InstalledAdapters = {
  adapters: [],
  offered: undefined,
  settings: { tlsScanImage: undefined },
};

export class LiveCluster {
  /** Sinks for the watches. */
  readonly policies: WatchSink;
  readonly shares: WatchSink;
  readonly intents: WatchSink;
  readonly clusterBindings: WatchSink;
  readonly bindings: WatchSink;
  readonly namespaces: WatchSink;
  readonly #providers: LiveProviders;
  readonly #namespaces: ObjectCache<KubeObject>;
  readonly #excluded: ReadonlySet<string>;
  readonly #listeners = new Listeners<(change: ClusterChange) => void>();
  #snapshot: ClusterSnapshot | undefined;
  #version = 0;

  constructor({ excludedNamespaces, adapters = noAdapters, intentsRemoved }: LiveClusterOptions) {
    this.#excluded = new Set(excludedNamespaces);
    const intentOptions = { installed: adapters, removed: intentsRemoved };
    this.#providers = new LiveProviders(excludedNamespaces, intentOptions, (changes) => {
      this.#snapshot = undefined;
      this.#tell(changes);
    });
    this.#namespaces = new ObjectCache<KubeObject>({
      apiVersion: 'v1',
      kind: 'Namespace',
      read: (object) => object,
      changed: (changes) => this.#tell(changes.map((change) => ({ kind: 'namespace', ...change }))),
    });
    const { stores, intents } = this.#providers;
    this.policies = stores.NamespacePolicy;
    this.shares = stores.SecretShare;
    this.intents = intents.sink;
    this.clusterBindings = stores.ClusterSecurityIntentBinding;
    this.bindings = stores.SecurityIntentBinding;
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
   * The providers of a snapshot never change. Namespaces are not copied, so they change with the cluster: a
   * decision that must see one state of all namespaces must not wait in between.
   */
  snapshot(): ClusterSnapshot {
    this.#snapshot ??= {
      ...this.#providers.view(),
      namespace: (name) => this.#namespaces.get(name),
      namespaces: () => this.#namespaces.values(),
    };
    return this.#snapshot;
  }

  /** As in a snapshot, without building the sets of providers again after each change. */
  namespace(name: string): KubeObject | undefined {
    return this.#namespaces.get(name);
  }

  /** As in a snapshot, too: the Namespaces that no provider matches. */
  isExcluded(name: string): boolean {
    return this.#excluded.has(name);
  }

  /** Returns the state and the problems of a stored provider. */
  provider(id: ProviderId): LoadedProvider | undefined {
    return this.#providers.get(id);
  }

  providers(): Iterable<LoadedProvider> {
    return this.#providers.all();
  }

  /** The kinds of security engines to ask the API server about. */
  get neededKinds(): readonly ObjectType[] {
    return this.#providers.intents.neededKinds;
  }

  /** Takes the answers of the API server, and changes the bindings that depend on them. */
  setServed(answers: Iterable<readonly [ObjectType, boolean]>): void {
    this.#providers.setServed(answers);
  }

  /** Removed intents that `setIntentKind` has to decide about. */
  get removedIntents(): ReadonlySet<string> {
    return this.#providers.intents.removed;
  }

  /** See `LiveIntents.setKind`. */
  setIntentKind(uid: string | undefined, removed: ReadonlySet<string>): void {
    this.#providers.intents.setKind(uid, removed);
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
    this.#version += Math.max(1, changes.length);
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }
}
