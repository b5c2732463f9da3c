// Caches the objects of one watch by key, and reports what each event or list has changed.
import type { KubeObject } from '../base/metadata.ts';
import type { WatchSink } from '../base/watch-sink.ts';

/** A new object has only `after`, a deleted object only `before`. */
export interface CacheChange<T> {
  /** The name. For an object in a namespace: `<namespace>/<name>`. */
  readonly name: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

interface CacheOptions<T> {
  readonly apiVersion: string;
  readonly kind: string;
  /** Returns the entry to keep for an object. `before` is the entry of the object with the same uid. */
  read(object: KubeObject, before: T | undefined): T;
  /** Called once the whole event or list is stored. */
  changed(changes: readonly CacheChange<T>[]): void;
}

interface Entry<T> {
  readonly uid: string | undefined;
  readonly resourceVersion: unknown;
  readonly value: T;
}

function keyOf({ metadata: { namespace, name = '' } }: KubeObject): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export class ObjectCache<T> implements WatchSink {
  readonly #options: CacheOptions<T>;
  // A Map, because an object may be called `constructor`.
  readonly #entries = new Map<string, Entry<T>>();
  #isSynced = false;

  constructor(options: CacheOptions<T>) {
    this.#options = options;
  }

  /** True once the initial sync is done. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name)?.value;
  }

  *values(): Generator<T> {
    for (const { value } of this.#entries.values()) yield value;
  }

  replaced(objects: readonly KubeObject[], _resourceVersion?: string, isRestored = false): void {
    const known = objects.filter((object) => this.#isOurs(object));
    const present = new Set(known.map(keyOf));
    const gone = [...this.#entries.keys()].filter((name) => !present.has(name));
    this.#isSynced = true;
    this.#tell([
      ...gone.map((name) => this.#drop(name)),
      ...known.map((object) => this.#take(object, isRestored)),
    ]);
  }

  changed(object: KubeObject): void {
    if (this.#isOurs(object)) this.#tell([this.#take(object)]);
  }

  removed(object: KubeObject): void {
    const { uid } = object.metadata;
    const name = keyOf(object);
    // A deletion that arrives after a new object of the same name is stale.
    if (this.#isOurs(object) && this.#entries.get(name)?.uid === uid) this.#tell([this.#drop(name)]);
  }

  /** Reads entries again, because another input of `read` has changed. The entry stays if `again` returns undefined. */
  reread(again: (value: T) => T | undefined): void {
    this.#tell(
      [...this.#entries].map(([name, entry]) => {
        const value = again(entry.value);
        if (value === undefined) return undefined;
        this.#entries.set(name, { ...entry, value });
        return { name, before: entry.value, after: value };
      }),
    );
  }

  #isOurs({ apiVersion, kind, metadata }: KubeObject): boolean {
    const { name = '' } = metadata;
    return apiVersion === this.#options.apiVersion && kind === this.#options.kind && name !== '';
  }

  /**
   * Returns undefined if exactly this version is stored already. After a restore of etcd, the same version can be another
   * state, and an earlier reading must not stay in force.
   */
  #take(object: KubeObject, isRestored = false): CacheChange<T> | undefined {
    const { uid, resourceVersion } = object.metadata;
    const name = keyOf(object);
    const known = this.#entries.get(name);
    const same = known?.uid === uid && !isRestored ? known : undefined;
    if (same?.resourceVersion !== undefined && same.resourceVersion === resourceVersion) return undefined;
    const value = this.#options.read(object, same?.value);
    this.#entries.set(name, { uid, resourceVersion, value });
    return { name, before: known?.value, after: value };
  }

  #drop(name: string): CacheChange<T> | undefined {
    const known = this.#entries.get(name);
    if (known === undefined) return undefined;
    this.#entries.delete(name);
    return { name, before: known.value, after: undefined };
  }

  #tell(changes: readonly (CacheChange<T> | undefined)[]): void {
    const real = changes.filter((change) => change !== undefined);
    if (real.length > 0) this.#options.changed(real);
  }
}
