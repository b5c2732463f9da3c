// Keeps the objects that one watch tells of, by name, and finds out what each piece of news changes.
import type { KubeObject } from '../base/kube-object.ts';
import type { WatchSink } from '../base/watch-sink.ts';

/** A new object has only `after`, a deleted object only `before`. */
export interface StoreChange<T> {
  readonly name: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

export interface StoreOptions<T> {
  readonly apiVersion: string;
  readonly kind: string;
  /** What is kept of an object; `before` is what was kept of the same one, not of another one of its name. */
  read(object: KubeObject, before: T | undefined): T;
  /** Called once the whole of the news has been taken in. */
  changed(changes: readonly StoreChange<T>[]): void;
}

interface Entry<T> {
  readonly uid: string | undefined;
  readonly resourceVersion: unknown;
  readonly value: T;
}

export class ObjectStore<T> implements WatchSink {
  readonly #options: StoreOptions<T>;
  // A Map, because an object may be called `constructor`.
  readonly #entries = new Map<string, Entry<T>>();
  #isSynced = false;

  constructor(options: StoreOptions<T>) {
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

  replaced(objects: readonly KubeObject[]): void {
    const known = objects.filter((object) => this.#isOurs(object));
    const present = new Set(known.map(({ metadata }) => metadata.name));
    const gone = [...this.#entries.keys()].filter((name) => !present.has(name));
    this.#isSynced = true;
    this.#tell([...gone.map((name) => this.#drop(name)), ...known.map((object) => this.#take(object))]);
  }

  changed(object: KubeObject): void {
    if (this.#isOurs(object)) this.#tell([this.#take(object)]);
  }

  removed(object: KubeObject): void {
    const { name = '', uid } = object.metadata;
    // The end of an object that another one of its name has already followed is no news.
    if (this.#isOurs(object) && this.#entries.get(name)?.uid === uid) this.#tell([this.#drop(name)]);
  }

  #isOurs({ apiVersion, kind, metadata }: KubeObject): boolean {
    const { name = '' } = metadata;
    return apiVersion === this.#options.apiVersion && kind === this.#options.kind && name !== '';
  }

  /** Undefined when it is known in this very version. */
  #take(object: KubeObject): StoreChange<T> | undefined {
    const { name = '', uid, resourceVersion } = object.metadata;
    const known = this.#entries.get(name);
    const same = known?.uid === uid ? known : undefined;
    if (same?.resourceVersion !== undefined && same.resourceVersion === resourceVersion) return undefined;
    const value = this.#options.read(object, same?.value);
    this.#entries.set(name, { uid, resourceVersion, value });
    return { name, before: known?.value, after: value };
  }

  #drop(name: string): StoreChange<T> | undefined {
    const known = this.#entries.get(name);
    if (known === undefined) return undefined;
    this.#entries.delete(name);
    return { name, before: known.value, after: undefined };
  }

  #tell(changes: readonly (StoreChange<T> | undefined)[]): void {
    const real = changes.filter((change) => change !== undefined);
    if (real.length > 0) this.#options.changed(real);
  }
}
