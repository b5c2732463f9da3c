// Enqueues the namespaces and providers that a change affects.
import { nameOf, type KubeObject } from '../base/metadata.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import type { NamespaceChange, ProviderChange } from '../state/live-cluster.ts';
import { affectedNamespaces, type InitialSync, type ProviderLedger } from './ledger.ts';
import type { AccountChange } from './live/observed-accounts.ts';
import type { ObjectsListener, ObservedChange } from './live/observed-objects.ts';
import { sourceId, type SourceId } from './live/sources.ts';
import type { Planning } from './planning.ts';
import type { ReconcileContext } from './ports.ts';
import { isDeepStrictEqual } from 'node:util';
import { ownConditions } from '../schema/names.ts';
import { isJsonObject, ownMember } from '../base/json.ts';
import { isNewerResourceVersion } from '../base/watch-sink.ts';

/** The status of a policy that matches nothing is renewed at most once a second, however many namespaces change. */
const unmatchedDelayMs = 1000;

/** A provider with so few namespaces, such as a tenant's binding, does not wait behind a Secret for all namespaces. */
const fewNames = 16;

/** Enqueues nothing until `begin`, because only the leader works. Hears changes last, so that work may read any cache. */
export class Dispatcher {
  readonly #context: ReconcileContext;
  readonly #planning: Planning;
  readonly #ledger: ProviderLedger;
  #isLeading = false;

  constructor(
    context: ReconcileContext,
    planning: Planning,
    ledger: ProviderLedger,
    initialSync: Pick<InitialSync, 'isDone'>,
  ) {
    this.#context = context;
    this.#planning = planning;
    this.#ledger = ledger;
    context.cluster.subscribe(
      {
        namespace: (change) => {
          if (this.#isLeading) this.#namespaceChanged(change);
        },
        provider: (change) => {
          if (this.#isLeading) this.#providerChanged(change);
        },
      },
      { last: true },
    );
    const listener: ObjectsListener = {
      changed: (change) => {
        if (this.#isLeading) this.#objectChanged(change);
      },
      synced: () => {
        if (this.#isLeading) this.enqueueAll();
      },
    };
    planning.objects.subscribe(listener, { last: true });
    planning.accounts.subscribe({
      changed: (change) => {
        if (this.#isLeading) this.#accountChanged(change);
      },
      synced: () => {
        if (this.#isLeading) this.enqueueAll();
      },
    });
    planning.sources.subscribe((source) => {
      if (this.#isLeading) this.#sourceChanged(source);
    });
    ledger.subscribe((provider) => {
      if (initialSync.isDone) context.providerQueue.add(provider);
    });
  }

  begin(): void {
    this.#isLeading = true;
    this.enqueueAll();
  }

  end(): void {
    this.#isLeading = false;
  }

  enqueueAll(): void {
    const { cluster, namespaceQueue, providerQueue } = this.#context;
    for (const namespaceObject of cluster.snapshot().namespaces())
      namespaceQueue.add(nameOf(namespaceObject), 'bulk');
    for (const { state } of cluster.providers()) providerQueue.add(state.id);
  }

  /** Enqueues a provider and all namespaces that it affects. */
  enqueueProvider(id: ProviderId): void {
    if (!this.#isLeading) return;
    const { namespaceQueue, providerQueue } = this.#context;
    const names = affectedNamespaces(id, this.#context.cluster, this.#ledger, this.#planning.objects);
    this.#ledger.expect(id, names);
    const urgency = names.size > fewNames ? 'bulk' : 'now';
    for (const name of names) namespaceQueue.add(name, urgency);
    providerQueue.add(id);
  }

  /** Enqueues namespaces in which objects of the provider are judged otherwise than before. */
  enqueueIn(id: ProviderId, namespaces: Iterable<string>): void {
    if (!this.#isLeading) return;
    const { cluster, namespaceQueue } = this.#context;
    const names = [...namespaces].filter((name) => cluster.namespace(name) !== undefined);
    this.#ledger.expect(id, names);
    for (const name of names) namespaceQueue.add(name, names.length > fewNames ? 'bulk' : 'now');
  }

  #namespaceChanged({ name, before, after }: NamespaceChange): void {
    const { cluster, namespaceQueue, providerQueue } = this.#context;
    const isSame = after !== undefined && changesOnlyConditions(before, after);
    if (after !== undefined && !isSame) namespaceQueue.add(name);
    for (const { state } of cluster.providers()) {
      // A namespace that is being deleted no longer lets its objects hold the finalizer of their provider.
      if (state.isDeleting) providerQueue.add(state.id);
      // The status of a policy that matches nothing names labels and names that the other namespaces have.
      else if (!isSame && this.#ledger.tallyOf(state.id).matched === 0)
        providerQueue.addAfter(state.id, unmatchedDelayMs);
    }
  }

  #providerChanged(change: ProviderChange): void {
    if (change.affectsNamespaces) this.enqueueProvider(change.id);
    this.#context.providerQueue.add(change.id);
  }

  #objectChanged({ namespace, key, before, after, from }: ObservedChange): void {
    const { cluster, namespaceQueue, providerQueue } = this.#context;
    const { desiredCache } = this.#planning;
    // The last object of a provider that is being deleted frees its finalizer.
    if (before?.owner !== undefined && cluster.provider(before.owner)?.state.isDeleting === true)
      providerQueue.add(before.owner);
    if (from === 'own') return;
    const namespaceObject = cluster.namespace(namespace);
    if (namespaceObject === undefined) return;
    const isOurs = [before, after].some((each) => each?.owner !== undefined || each?.lacksOwner === true);
    if (isOurs || desiredCache.of(namespaceObject).claims.has(key)) namespaceQueue.add(namespace);
  }

  #accountChanged({ namespace, key, before, after, from }: AccountChange): void {
    const { cluster, namespaceQueue, providerQueue } = this.#context;
    const { desiredCache } = this.#planning;
    const [had = 0, has = 0] = [before?.marks.size, after?.marks.size];
    // The last field of a policy that is being deleted frees its finalizer.
    if (had > has)
      for (const { state } of cluster.providers()) if (state.isDeleting) providerQueue.add(state.id);
    const namespaceObject = cluster.namespace(namespace);
    if (from === 'own' || namespaceObject === undefined) return;
    if (had + has > 0 || desiredCache.of(namespaceObject).fields.has(key)) namespaceQueue.add(namespace);
  }

  #sourceChanged(id: SourceId): void {
    for (const { id: share, sources } of this.#context.cluster.snapshot().shares.shares) {
      if (sources.some((source) => sourceId(source) === id)) this.enqueueProvider(share);
    }
  }
}

// Classifies changes of policies, shares and Namespaces by the work that they need.

/**
 * Returns whether only our own conditions differ. Most likely we wrote them, and they make no further object possible.
 */
export function changesOnlyConditions(before: KubeObject | undefined, after: KubeObject): boolean {
  return before !== undefined && isDeepStrictEqual(withoutConditions(before), withoutConditions(after));
}

function withoutConditions({ metadata, status, ...rest }: KubeObject): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  const { conditions, ...others } = isJsonObject(status) ? status : {};
  const theirs = Array.isArray(conditions)
    ? conditions.filter((condition) => !isOwnCondition(condition))
    : [];
  return { ...rest, metadata: kept, status: { ...others, conditions: theirs } };
}

function isOwnCondition(condition: unknown): boolean {
  return ownConditions.some((type) => ownMember(condition, 'type') === type);
}

/** Returns whether the same object went back to an older version: etcd was restored, because watches never go back. */
export function wasRestored(change: ProviderChange | NamespaceChange): boolean {
  const [before, after] = [metadataOf(change, 'before'), metadataOf(change, 'after')];
  const [old, now] = [ownMember(before, 'resourceVersion'), ownMember(after, 'resourceVersion')];
  return (
    ownMember(before, 'uid') === ownMember(after, 'uid') &&
    typeof old === 'string' &&
    typeof now === 'string' &&
    isNewerResourceVersion(old, now)
  );
}

function metadataOf(change: ProviderChange | NamespaceChange, side: 'before' | 'after'): unknown {
  return change.kind === 'namespace' ? change[side]?.metadata : change[side]?.state;
}
