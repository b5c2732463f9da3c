// The live objects of the kinds that we provide, as watches and the answers to our own writes tell of them.
import type { KubeObject } from '../../base/kube-object.ts';
import type { WatchSink } from '../../base/watch-sink.ts';
import type { ObjectType } from '../../policy/compile/compile-contents.ts';
import type { ObjectKey } from '../../policy/compile/object-key.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { ObjectFeed } from './object-feed.ts';
import { ObjectIndex } from './object-index.ts';
import { isNewerVersion } from '../../base/resource-version.ts';

export interface ObservedChange {
  readonly namespace: string;
  readonly key: ObjectKey;
  readonly before: Observed | undefined;
  readonly after: Observed | undefined;
  /** `own`: we did it ourselves, and know already. */
  readonly from: 'watch' | 'own';
}

export interface ObjectsListener {
  readonly changed: (change: ObservedChange) => void;
  /** The first complete list of a watch has arrived. */
  readonly synced?: () => void;
}

export class ObservedObjects {
  readonly #index = new ObjectIndex();
  readonly #feeds: ObjectFeed[] = [];
  /** By UID, what we have deleted, until the watch has told of it: older news may still be on the way. */
  readonly #deleted = new Map<string, Observed>();
  readonly #listeners: ObjectsListener[] = [];

  subscribe(listener: ObjectsListener): void {
    this.#listeners.push(listener);
  }

  /** For a watch of that kind, in all namespaces. `observe` says what is kept of an object. */
  sink(type: ObjectType, observe: (object: KubeObject) => Observed, name?: string): WatchSink {
    const feed = new ObjectFeed(type, name);
    this.#feeds.push(feed);
    return {
      replaced: (objects, resourceVersion) => this.#replaced(feed, objects.map(observe), resourceVersion),
      changed: (object) => {
        const observed = observe(object);
        feed.heard(observed.resourceVersion);
        this.#told(observed);
      },
      removed: (object) => {
        const observed = observe(object);
        feed.heard(observed.resourceVersion);
        this.#ended(observed.uid);
        this.#gone(observed);
      },
    };
  }

  /** Whether all objects of that kind and name are known. */
  isKnown(object: Pick<Observed, 'type' | 'name'>): boolean {
    return this.#feedOf(object)?.isSynced === true;
  }

  get(namespace: string, key: ObjectKey): Observed | undefined {
    return this.#index.get(namespace, key);
  }

  ours(namespace: string): readonly Observed[] {
    return this.#index.ours(namespace);
  }

  countsOf(owner: ProviderId): ReadonlyMap<string, number> {
    return this.#index.countsOf(owner);
  }

  /** Those in which there are objects of ours. */
  namespaces(): Iterable<string> {
    return this.#index.namespaces();
  }

  /** The answer to a write of ours. */
  wrote(observed: Observed): void {
    const known = this.get(observed.namespace, observed.key);
    // The watch has told of this and of what came after it: the object is gone again.
    if (known === undefined && this.#feedOf(observed)?.hasHeardOf(observed.resourceVersion) === true) return;
    if (this.#deleted.has(observed.uid)) return;
    if (known === undefined || this.#isNews(observed, known)) this.#put(observed, 'own');
  }

  /** The answer to a reading: it tells only of what is known to be there, because the reading may have been overtaken. */
  read(observed: Observed): void {
    const known = this.get(observed.namespace, observed.key);
    if (known !== undefined && this.#isNews(observed, known)) this.#put(observed, 'own');
  }

  /** We have deleted it, or have found that it is not there any more. */
  deleted(observed: Observed): void {
    const known = this.get(observed.namespace, observed.key);
    // One that lingers already is there until its watch tells of its end: somebody's finalizer holds it.
    if (known?.uid !== observed.uid || known.isTerminating) return;
    this.#deleted.set(observed.uid, observed);
    this.#drop(known, 'own');
  }

  #feedOf(object: Pick<Observed, 'type' | 'name'>): ObjectFeed | undefined {
    return this.#feeds.find((feed) => feed.covers(object));
  }

  #isNews(observed: Observed, known: Observed): boolean {
    if (observed.resourceVersion !== known.resourceVersion)
      return isNewerVersion(observed.resourceVersion, known.resourceVersion);
    return known.content.kind === 'unread' && observed.content.kind !== 'unread';
  }

  #told(observed: Observed): void {
    // It lingers, because somebody put a finalizer on it; before that, it is old news of what we have deleted.
    if (observed.isTerminating) this.#deleted.delete(observed.uid);
    if (this.#deleted.has(observed.uid)) return;
    const known = this.get(observed.namespace, observed.key);
    if (known === undefined || isNewerVersion(observed.resourceVersion, known.resourceVersion))
      this.#put(observed, 'watch');
  }

  /** Its name is free now, which it may not have been since we deleted it. */
  #ended(uid: string): void {
    const gone = this.#deleted.get(uid);
    if (gone === undefined) return;
    this.#deleted.delete(uid);
    const { namespace, key } = gone;
    if (this.get(namespace, key) === undefined)
      this.#notify({ namespace, key, before: gone, after: undefined, from: 'watch' });
  }

  #gone(observed: Observed): void {
    const known = this.get(observed.namespace, observed.key);
    if (known === undefined) return;
    // The end of an object that another one of its name has already followed is no news.
    if (known.uid === observed.uid || isNewerVersion(observed.resourceVersion, known.resourceVersion))
      this.#drop(known, 'watch');
  }

  #replaced(feed: ObjectFeed, objects: readonly Observed[], resourceVersion: string): void {
    const isFirst = !feed.isSynced;
    // A list is never behind what a watch has told, unless the whole cluster has gone back to an earlier state:
    // https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
    const isRestored = !isFirst && feed.isPast(resourceVersion);
    if (isRestored) feed.restart();
    feed.listed(resourceVersion);
    const present = new Set(objects.map(({ uid }) => uid));
    for (const [uid, gone] of this.#deleted) {
      if (feed.covers(gone) && (isRestored || !present.has(uid))) this.#ended(uid);
    }
    if (!isFirst) {
      this.#dropMissing(feed, present, (known) => isRestored || !isNewerVersion(known, resourceVersion));
    }
    for (const observed of objects) {
      // A version that was known may stand for something else now.
      if (isRestored) this.#put(observed, 'watch');
      else this.#told(observed);
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
