// Keeps the providers, intents and Namespaces that the watches report, as the engine's view of the cluster.
import { policyIn, shareIn } from '../policy/compile/load-provider.ts';
import type { KubeObject } from '../base/metadata.ts';
import { Listeners, type ListenerOptions } from '../base/listeners.ts';
import type { WatchSink } from '../base/watch-sink.ts';
import { kinds, type DecidingKind, type ProviderKind } from '../api/kinds.ts';
import type { ObjectType } from '../base/object-type.ts';
import {
  type ProviderId,
  isBindingKind,
  kindOfProvider,
  providerRef,
  providerKinds,
} from '../policy/terms/provider-id.ts';
import { type ClusterSnapshot, PolicySet, ShareSet, type StoredBinding } from '../policy/compile/snapshot.ts';
import { LiveIntents, type LiveIntentsOptions } from './live-intents.ts';
import { noIntents, type IntentContext } from '../policy/intents/intent-context.ts';
import { ClusterProperties, mayReadVariables, withProperties } from './cluster-properties.ts';
import { ObjectCache } from './object-cache.ts';
import {
  affectsNamespaces,
  type LoadedProvider,
  loadStored,
  reloadStored,
  type Standing,
} from './stored-provider.ts';
import { isDeepStrictEqual } from 'node:util';
import { apiVersion, confirmDeletionsAnnotation } from '../schema/names.ts';
import { ownMember } from '../base/json.ts';
import type { Install } from '../policy/terms/install.ts';

interface LiveClusterOptions {
  readonly install: Install;
  /** All adapters of the program. Default: none, so that no intent is supported. */
  readonly adapters?: LiveIntentsOptions['adapters'];
  /** Called when intents were removed: `setIntentKind` must follow. Default: a person deleted them. */
  readonly intentsRemoved?: () => void;
  /** True if watches report the ClusterProperties. Until they have, the cluster is not synced. */
  readonly watchesProperties?: boolean;
}

/** One change. A deleted object has only `before`, a new object only `after`. */
export type ClusterChange = NamespaceChange | ProviderChange;

/** The changes that a listener hears. */
interface ClusterListener {
  readonly namespace?: (change: NamespaceChange) => void;
  readonly provider?: (change: ProviderChange) => void;
  /** Called for the changes of providers that can change objects in namespaces. A written status cannot. */
  readonly affecting?: (change: ProviderChange) => void;
}

export interface NamespaceChange {
  readonly kind: 'namespace';
  readonly name: string;
  readonly before: KubeObject | undefined;
  /** Has another UID than `before` when the namespace was deleted and created again. */
  readonly after: KubeObject | undefined;
}

export class LiveCluster {
  /** Sinks for the watches of our kinds. */
  readonly sinks: Readonly<Record<DecidingKind['kind'], WatchSink>>;
  /** The sink for the watch of Namespaces. */
  readonly namespaces: WatchSink;
  readonly #watchesProperties: boolean;
  readonly #providers: LiveProviders;
  readonly #namespaces: ObjectCache<KubeObject>;
  readonly #excluded: ReadonlySet<string>;
  readonly #listeners = new Listeners<ClusterListener>();
  #snapshot: ClusterSnapshot | undefined;
  #version = 0;
  #isSynced = false;

  constructor({ install, adapters = [], intentsRemoved, watchesProperties = false }: LiveClusterOptions) {
    this.#watchesProperties = watchesProperties;
    this.#excluded = new Set(install.excludedNamespaces);
    this.#providers = new LiveProviders({ install, adapters, removed: intentsRemoved }, (changes) => {
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
    this.sinks = { ...stores, SecurityIntent: intents.sink };
    this.namespaces = this.#namespaces;
  }

  /** The sinks for the watches of ClusterProperties. */
  get properties(): ClusterProperties['sinks'] {
    return this.#providers.properties.sinks;
  }

  /** True once the initial sync of every watch is done. */
  get isSynced(): boolean {
    this.#isSynced ||=
      this.#providers.isSynced &&
      this.#namespaces.isSynced &&
      (!this.#watchesProperties || this.#providers.properties.isSynced);
    return this.#isSynced;
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

  /** Returns the Namespace of a snapshot, without building the sets of providers again after each change. */
  namespace(name: string): KubeObject | undefined {
    return this.#namespaces.get(name);
  }

  /** Returns true for a Namespace that no provider matches, as in a snapshot. */
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

  /** Removed intents about which `setIntentKind` must decide. */
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
  subscribe(listener: ClusterListener, options?: ListenerOptions): () => void {
    return this.#listeners.add(listener, options);
  }

  #tell(changes: readonly ClusterChange[]): void {
    this.#version += Math.max(1, changes.length);
    for (const change of changes) for (const listener of this.#listeners) tell(listener, change);
  }
}

function tell({ namespace, provider, affecting }: ClusterListener, change: ClusterChange): void {
  if (change.kind === 'namespace') return namespace?.(change);
  provider?.(change);
  if (change.affectsNamespaces) affecting?.(change);
}

// Keeps the providers that the watches report: the state of each, and the sets in force.

export interface ProviderChange {
  readonly kind: 'provider';
  readonly id: ProviderId;
  readonly before: LoadedProvider | undefined;
  /** Has another UID than `before` when the provider was deleted and created again. */
  readonly after: LoadedProvider | undefined;
  /** True when the change can change objects in namespaces. A written status cannot. */
  readonly affectsNamespaces: boolean;
}

type ProviderCounts = Readonly<Record<ProviderKind, Readonly<Record<Standing, number>>>>;

type ProvidersView = Omit<ClusterSnapshot, 'namespace' | 'namespaces'>;
type Store = ObjectCache<LoadedProvider>;

class LiveProviders {
  readonly stores: Readonly<Record<ProviderKind, Store>>;
  readonly intents: LiveIntents;
  readonly properties: ClusterProperties;
  readonly #install: Install;
  /** The context of providers that are no bindings. */
  #plain: IntentContext;
  readonly #changed: (changes: readonly ProviderChange[]) => void;
  // Built on first use, so that a burst of changes builds each set once.
  #policySet: PolicySet | undefined;
  #shareSet: ShareSet | undefined;
  #context: IntentContext | undefined;

  constructor(
    intents: Omit<LiveIntentsOptions, 'changed'>,
    changed: (changes: readonly ProviderChange[]) => void,
  ) {
    this.#install = intents.install;
    this.#plain = { ...noIntents, cluster: intents.install.clusterVariables };
    this.#changed = changed;
    this.properties = new ClusterProperties(() => this.#variablesChanged());
    this.intents = new LiveIntents({
      ...intents,
      variables: () => this.#plain.cluster,
      changed: (names) => this.#reload((spec) => names === undefined || namesAny(spec, names)),
    });
    this.stores = forEachKind((kind) => this.#store(kind));
  }

  get isSynced(): boolean {
    return this.intents.isSynced && Object.values(this.stores).every(({ isSynced }) => isSynced);
  }

  get(id: ProviderId): LoadedProvider | undefined {
    return this.stores[kindOfProvider(id)].get(id.slice(id.indexOf('/') + 1));
  }

  *all(): Generator<LoadedProvider> {
    for (const kind of providerKinds) yield* this.stores[kind].values();
  }

  view(): ProvidersView {
    const loaded = [...this.all()];
    this.#policySet ??= new PolicySet(
      loaded.flatMap(({ definition }) => policyIn(definition)?.compiled ?? []),
      this.#install,
    );
    this.#shareSet ??= new ShareSet(loaded.flatMap(({ definition }) => shareIn(definition)?.compiled ?? []));
    const providers = new Map(loaded.map(({ state }) => [state.id, state] as const));
    const isServed = (type: ObjectType): boolean => this.intents.isServed(type);
    this.#context ??= this.intents.context;
    const intents = { context: this.#context, bindings: () => loaded.flatMap(bindingOf) };
    return { policies: this.#policySet, shares: this.#shareSet, providers, intents, isServed };
  }

  counts(): ProviderCounts {
    return forEachKind((kind) => countsOf(this.stores[kind]));
  }

  /** Takes the answers of the API server about kinds of security engines. A new one can change every binding. */
  setServed(answers: Iterable<readonly [ObjectType, boolean]>): void {
    if (this.intents.setServed(answers)) this.#reload(() => true);
  }

  /** A change of a variable is a change of each provider that reads one. */
  #variablesChanged(): void {
    const cluster = withProperties(this.#install.clusterVariables, this.properties.objects);
    if (isDeepStrictEqual(cluster, this.#plain.cluster)) return;
    this.#plain = { ...noIntents, cluster };
    this.intents.forgetContext();
    this.#context = this.intents.context;
    for (const kind of providerKinds)
      this.stores[kind].reread((loaded) =>
        mayReadVariables(loaded.spec)
          ? reloadStored(loaded, isBindingKind(kind) ? this.intents.context : this.#plain)
          : undefined,
      );
    this.#changed([]);
  }

  /** An intent or an adapter has changed, so the same binding gives other objects. */
  #reload(isAffected: (spec: unknown) => boolean): void {
    const { context } = this.intents;
    this.#context = context;
    for (const kind of providerKinds.filter(isBindingKind))
      this.stores[kind].reread((loaded) =>
        isAffected(loaded.spec) ? reloadStored(loaded, context) : undefined,
      );
    // A snapshot shows intents and adapters even if no binding depends on them.
    this.#changed([]);
  }

  /** Only a changed definition discards the set. A written status, for example, does not. */
  #store(kind: ProviderKind): Store {
    return new ObjectCache<LoadedProvider>({
      apiVersion,
      kind,
      read: (object, before) =>
        loadStored(kind, object, before, isBindingKind(kind) ? this.intents.context : this.#plain),
      changed: (changes) => {
        if (changes.some(({ before, after }) => before?.definition !== after?.definition)) {
          if (kinds[kind].copies === undefined) this.#policySet = undefined;
          else this.#shareSet = undefined;
        }
        this.#changed(
          changes.map(({ name, before, after }) => ({
            kind: 'provider',
            id: `${kind}/${name}`,
            before,
            after,
            affectsNamespaces: affectsNamespaces(before, after),
          })),
        );
      },
    });
  }
}

function bindingOf({ state: { id, confirmation }, spec }: LoadedProvider): readonly StoredBinding[] {
  const kind = kindOfProvider(id);
  if (!isBindingKind(kind)) return [];
  const { apiVersion: version, name, namespace } = providerRef(id);
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(confirmation === undefined ? {} : { annotations: { [confirmDeletionsAnnotation]: confirmation } }),
  };
  return [{ kind, object: { apiVersion: version, kind, metadata, spec } }];
}

function namesAny(spec: unknown, intents: ReadonlySet<string>): boolean {
  const names: unknown = ownMember(spec, 'intents');
  return Array.isArray(names) && names.some((name: unknown) => typeof name === 'string' && intents.has(name));
}

function forEachKind<T>(make: (kind: ProviderKind) => T): Readonly<Record<ProviderKind, T>> {
  const made = Object.fromEntries(providerKinds.map((kind) => [kind, make(kind)]));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the list has every kind of provider
  return made as Record<ProviderKind, T>;
}

function countsOf(store: Store): Readonly<Record<Standing, number>> {
  const counts = { loaded: 0, 'last-good': 0, refused: 0 };
  for (const { standing } of store.values()) counts[standing] += 1;
  return counts;
}
