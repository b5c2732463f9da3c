// Keeps the live objects of the kinds that we provide, from watches and from the answers to our own writes.
import type { KubeObject } from '../../base/metadata.ts';
import { Listeners, type ListenerOptions } from '../../base/listeners.ts';
import { type WatchSink, isNewerResourceVersion } from '../../base/watch-sink.ts';
import {
  type ObjectKey,
  type ObjectType,
  groupOf,
  isSameObjectType,
  secretObjectType,
} from '../../base/object-type.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { observeObject, observeSecretMetadata, type Observed } from '../../policy/plan/observed.ts';

// Indexes live objects by namespace and key. Indexes our own objects, and counts them by provider and namespace.

type ByKey = Map<ObjectKey, Observed>;

class ObjectIndex {
  readonly #all = new Map<string, ByKey>();
  readonly #ours = new Map<string, ByKey>();
  /** Objects per provider and namespace, without objects that are being deleted. */
  readonly #counts = new Map<ProviderId, Map<string, number>>();

  get(namespace: string, key: ObjectKey): Observed | undefined {
    return this.#all.get(namespace)?.get(key);
  }

  /** Returns the objects with our label, including objects that name no owner. */
  ours(namespace: string): readonly Observed[] {
    return [...(this.#ours.get(namespace)?.values() ?? [])];
  }

  /** Returns the namespaces in which the provider owns objects, with their number. */
  countsOf(owner: ProviderId): ReadonlyMap<string, number> {
    return this.#counts.get(owner) ?? new Map<string, number>();
  }

  /** Returns the namespaces with at least one object of ours. */
  namespaces(): Iterable<string> {
    return this.#ours.keys();
  }

  *values(): Generator<Observed> {
    for (const objects of this.#all.values()) yield* objects.values();
  }

  set(observed: Observed): void {
    const { namespace, key, owner, lacksOwner } = observed;
    this.#count(this.get(namespace, key), -1);
    insert(this.#all, namespace, observed);
    if (owner === undefined && !lacksOwner) drop(this.#ours, namespace, key);
    else insert(this.#ours, namespace, observed);
    this.#count(observed, 1);
  }

  delete({ namespace, key }: Observed): void {
    this.#count(this.get(namespace, key), -1);
    drop(this.#all, namespace, key);
    drop(this.#ours, namespace, key);
  }

  #count(observed: Observed | undefined, change: 1 | -1): void {
    if (observed?.owner === undefined || observed.isTerminating) return;
    const { owner, namespace } = observed;
    const counts = this.#counts.get(owner) ?? new Map<string, number>();
    const count = (counts.get(namespace) ?? 0) + change;
    if (count === 0) counts.delete(namespace);
    else counts.set(namespace, count);
    if (counts.size === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, counts);
  }
}

function insert(index: Map<string, ByKey>, namespace: string, observed: Observed): void {
  const objects = index.get(namespace);
  if (objects === undefined) index.set(namespace, new Map([[observed.key, observed]]));
  else objects.set(observed.key, observed);
}

function drop(index: Map<string, ByKey>, namespace: string, key: ObjectKey): void {
  const objects = index.get(namespace);
  if (objects?.delete(key) === true && objects.size === 0) index.delete(namespace);
}

export interface ObservedChange {
  readonly namespace: string;
  readonly key: ObjectKey;
  readonly before: Observed | undefined;
  readonly after: Observed | undefined;
  /** `own`: from the answer to our own request. */
  readonly from: 'watch' | 'own';
}

export interface ObjectsListener {
  readonly changed: (change: ObservedChange) => void;
  /** Called when the first complete list of a watch arrives. */
  readonly synced?: () => void;
}

export class ObservedObjects {
  readonly #index = new ObjectIndex();
  readonly #feeds: ObjectFeed[] = [];
  /** Objects that we deleted, by UID, until the watch reports it. Older events can still arrive before. */
  readonly #deleted = new Map<string, Observed>();
  readonly #listeners = new Listeners<ObjectsListener>();

  subscribe(listener: ObjectsListener, options?: ListenerOptions): void {
    this.#listeners.add(listener, options);
  }

  /** Returns the sink for a watch of this kind in all namespaces. A watch of Secrets delivers their metadata alone. */
  sink(type: ObjectType, name?: string): WatchSink {
    const observe = (object: KubeObject): Observed =>
      isSameObjectType(type, secretObjectType) ? observeSecretMetadata(object) : observeObject(type, object);
    const feed = new ObjectFeed(type, name);
    this.#feeds.push(feed);
    return {
      replaced: (objects, resourceVersion, isRestored = false) =>
        this.#replaced(feed, objects.map(observe), resourceVersion, isRestored),
      changed: (object) => {
        const observed = observe(object);
        feed.reported(observed.resourceVersion);
        this.#changed(observed);
      },
      removed: (object) => {
        const observed = observe(object);
        feed.reported(observed.resourceVersion);
        this.#ended(observed.uid);
        this.#removed(observed);
      },
    };
  }

  /** Returns whether the watch that covers this kind and name has synced. */
  isKnown(object: Pick<Observed, 'type' | 'name'>): boolean {
    return this.#feedOf(object)?.isSynced === true;
  }

  get(namespace: string, key: ObjectKey): Observed | undefined {
    return this.#index.get(namespace, key);
  }

  ours(namespace: string): readonly Observed[] {
    return this.#index.ours(namespace);
  }

  countsOf(provider: ProviderId): ReadonlyMap<string, number> {
    return this.#index.countsOf(provider);
  }

  /** Returns the namespaces with at least one object of ours. */
  namespaces(): Iterable<string> {
    return this.#index.namespaces();
  }

  /** Takes the answer to our own write. */
  wrote(observed: Observed): void {
    const known = this.get(observed.namespace, observed.key);
    // The watch has reported past this version without the object, so the object was deleted again.
    if (known === undefined && this.#feedOf(observed)?.hasReported(observed.resourceVersion) === true) return;
    if (this.#deleted.has(observed.uid)) return;
    if (known === undefined || this.#isNews(observed, known)) this.#put(observed, 'own');
  }

  /** Takes the answer to a read. An unknown object is ignored, because it may have been deleted since the read. */
  read(observed: Observed): void {
    const known = this.get(observed.namespace, observed.key);
    if (known !== undefined && this.#isNews(observed, known)) this.#put(observed, 'own');
  }

  /** Called when we deleted the object, or when the API server answered that it does not exist. */
  deleted(observed: Observed): void {
    const known = this.get(observed.namespace, observed.key);
    // A finalizer holds a terminating object, so the object exists until its watch reports the end.
    if (known?.uid !== observed.uid || known.isTerminating) return;
    this.#deleted.set(observed.uid, observed);
    this.#drop(known, 'own');
  }

  #feedOf(object: Pick<Observed, 'type' | 'name'>): ObjectFeed | undefined {
    return this.#feeds.find((feed) => feed.covers(object));
  }

  #isNews(observed: Observed, known: Observed): boolean {
    if (observed.resourceVersion !== known.resourceVersion)
      return isNewerResourceVersion(observed.resourceVersion, known.resourceVersion);
    return known.content.kind === 'unread' && observed.content.kind !== 'unread';
  }

  /** `listedAt`: the version of the list with the object. A known object wins only if it is newer than the list. */
  #changed(observed: Observed, listedAt?: string): void {
    // We deleted this object, but a finalizer keeps it, so we track it again. Without a deletionTimestamp the event is older
    // than our delete.
    if (observed.isTerminating) this.#deleted.delete(observed.uid);
    if (this.#deleted.has(observed.uid)) return;
    const known = this.get(observed.namespace, observed.key);
    if (
      known === undefined ||
      isNewerResourceVersion(observed.resourceVersion, known.resourceVersion) ||
      (listedAt !== undefined &&
        observed.resourceVersion !== known.resourceVersion &&
        !isNewerResourceVersion(known.resourceVersion, listedAt))
    )
      this.#put(observed, 'watch');
  }

  /** Reports the end of an object that we deleted, because only now its name is certainly free. */
  #ended(uid: string): void {
    const gone = this.#deleted.get(uid);
    if (gone === undefined) return;
    this.#deleted.delete(uid);
    const { namespace, key } = gone;
    if (this.get(namespace, key) === undefined)
      this.#notify({ namespace, key, before: gone, after: undefined, from: 'watch' });
  }

  #removed(observed: Observed): void {
    const known = this.get(observed.namespace, observed.key);
    if (known === undefined) return;
    // The event may be about an older object of the same name. Then the newer object stays.
    if (known.uid === observed.uid || isNewerResourceVersion(observed.resourceVersion, known.resourceVersion))
      this.#drop(known, 'watch');
  }

  // oxlint-disable-next-line max-params -- the list as its watch delivers it
  #replaced(
    feed: ObjectFeed,
    objects: readonly Observed[],
    resourceVersion: string,
    isRestored: boolean,
  ): void {
    const isFirst = !feed.isSynced;
    if (isRestored) feed.restart();
    feed.listed(resourceVersion);
    const present = new Set(objects.map(({ uid }) => uid));
    for (const [uid, gone] of this.#deleted) {
      if (feed.covers(gone) && (isRestored || !present.has(uid))) this.#ended(uid);
    }
    if (!isFirst) {
      this.#dropMissing(
        feed,
        present,
        (known) => isRestored || !isNewerResourceVersion(known, resourceVersion),
      );
    }
    for (const observed of objects) {
      // After a restore, the same version can belong to another state.
      if (isRestored) this.#put(observed, 'watch');
      else this.#changed(observed, resourceVersion);
    }
    if (isFirst) this.#notifySynced();
  }

  #notifySynced(): void {
    for (const { synced } of this.#listeners) synced?.();
  }

  #dropMissing(
    feed: ObjectFeed,
    present: ReadonlySet<string>,
    isListed: (resourceVersion: string) => boolean,
  ): void {
    for (const known of this.#index.values()) {
      if (feed.covers(known) && !present.has(known.uid) && isListed(known.resourceVersion))
        this.#drop(known, 'watch');
    }
  }

  #put(observed: Observed, from: ObservedChange['from']): void {
    const { namespace, key } = observed;
    const before = this.get(namespace, key);
    this.#index.set(observed);
    this.#notify({ namespace, key, before, after: observed, from });
  }

  #drop(known: Observed, from: ObservedChange['from']): void {
    const { namespace, key } = known;
    this.#index.delete(known);
    this.#notify({ namespace, key, before: known, after: undefined, from });
  }

  #notify(change: ObservedChange): void {
    for (const { changed } of this.#listeners) changed(change);
  }
}

// Tracks one watch of live objects: the objects that it covers, and the version up to which it has reported.

class ObjectFeed {
  readonly type: ObjectType;
  /** The only name that the watch covers. Undefined: all names. */
  readonly name: string | undefined;
  #highest = '';
  #isSynced = false;

  constructor(type: ObjectType, name?: string) {
    this.type = type;
    this.name = name;
  }

  /** True when the first complete list has arrived. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  covers({ type, name }: Pick<Observed, 'type' | 'name'>): boolean {
    return (
      type.kind === this.type.kind &&
      groupOf(type.apiVersion) === groupOf(this.type.apiVersion) &&
      (this.name === undefined || this.name === name)
    );
  }

  listed(resourceVersion: string): void {
    this.#isSynced = true;
    this.reported(resourceVersion);
  }

  reported(resourceVersion: string): void {
    if (this.#highest === '' || isNewerResourceVersion(resourceVersion, this.#highest))
      this.#highest = resourceVersion;
  }

  /** Forgets the reported versions, after a restore of etcd. */
  restart(): void {
    this.#highest = '';
  }

  /** Returns whether the watch has reported everything up to this version. */
  hasReported(resourceVersion: string): boolean {
    return this.#highest !== '' && !isNewerResourceVersion(resourceVersion, this.#highest);
  }
}
