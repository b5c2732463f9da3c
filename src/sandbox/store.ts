// Keeps all objects of the sandbox in memory. As in etcd, every change gets one revision.
import type { KubeObject } from '../base/metadata.ts';
import { groupResource } from './api-error.ts';
import type { Resource } from './resource.ts';

/** One change of an object. For `deleted`, `object` is its last state with a new resourceVersion. */
export interface Change {
  readonly type: 'added' | 'modified' | 'deleted';
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly before: KubeObject | undefined;
  readonly revision: number;
}

export interface SandboxStore {
  /** The revision of the last change. */
  readonly revision: number;
  get(resource: Resource, namespace: string | undefined, name: string): KubeObject | undefined;
  /** Returns the objects in the order of namespace and name. */
  list(resource: Resource, namespace?: string): readonly KubeObject[];
  /**
   * Stores the object under its namespace and name with a new resourceVersion, and returns it.
   * `before` is the object that the caller has read, undefined for a create. When another object is stored now,
   * nothing is stored and the result is undefined.
   */
  put(resource: Resource, object: KubeObject, before: KubeObject | undefined): KubeObject | undefined;
  /** Returns undefined when another object is stored now. */
  remove(resource: Resource, before: KubeObject): KubeObject | undefined;
  /** Calls the listener synchronously after every change. Returns a function that stops this. */
  subscribe(listener: (change: Change) => void): () => void;
  /** Returns the changes after a revision; undefined when they are no longer kept. */
  since(revision: number): readonly Change[] | undefined;
}

/** Returns the object with another resourceVersion. */
export function atRevision(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

export class MemoryStore implements SandboxStore {
  readonly #kinds = new Map<string, SortedObjects>();
  /** The latest changes, one for each revision, so that a watch can continue an earlier one. */
  readonly #history: Change[] = [];
  readonly #historyLimit: number;
  /**
   * The revision before the oldest kept change. It begins above 0, so that a watch from revision 1 is too old, as in
   * any cluster.
   */
  #start = 1000;
  readonly #listeners = new Set<(change: Change) => void>();
  #unannounced: Change[] = [];

  constructor(historyLimit = 10_000) {
    this.#historyLimit = historyLimit;
  }

  get revision(): number {
    return this.#start + this.#history.length;
  }

  get(resource: Resource, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#objectsOf(resource).get(`${namespace ?? ''}/${name}`);
  }

  list(resource: Resource, namespace?: string): readonly KubeObject[] {
    return this.#objectsOf(resource).list(namespace);
  }

  put(resource: Resource, object: KubeObject, before: KubeObject | undefined): KubeObject | undefined {
    const type = before === undefined ? 'added' : 'modified';
    return this.#change({ type, resource, object, before });
  }

  remove(resource: Resource, before: KubeObject): KubeObject | undefined {
    return this.#change({ type: 'deleted', resource, object: before, before });
  }

  subscribe(listener: (change: Change) => void): () => void {
    const joined = this.revision;
    const hear = (change: Change): void => {
      if (change.revision > joined) listener(change);
    };
    this.#listeners.add(hear);
    return () => this.#listeners.delete(hear);
  }

  since(revision: number): readonly Change[] | undefined {
    return revision < this.#start ? undefined : this.#history.slice(revision - this.#start);
  }

  #objectsOf(resource: Resource): SortedObjects {
    const kind = groupResource(resource);
    const objects = this.#kinds.get(kind) ?? new SortedObjects();
    this.#kinds.set(kind, objects);
    return objects;
  }

  #change(change: Omit<Change, 'revision'>): KubeObject | undefined {
    const objects = this.#objectsOf(change.resource);
    const key = sortKey(change.object);
    if (objects.get(key) !== change.before) return undefined;
    const revision = this.revision + 1;
    const object = atRevision(change.object, revision);
    if (change.type === 'deleted') objects.delete(key);
    else objects.set(key, object);
    this.#record({ ...change, object, revision });
    return object;
  }

  #record(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > this.#historyLimit) {
      this.#history.shift();
      this.#start += 1;
    }
    // A listener may write. Its change is announced after all listeners have seen this one.
    if (this.#unannounced.push(change) > 1) return;
    try {
      for (const next of this.#unannounced) for (const hear of this.#listeners) hear(next);
    } finally {
      this.#unannounced = [];
    }
  }
}

/**
 * Lists have the order of this text, as in etcd: `team-a/x` comes before `team/x`.
 * https://etcd.io/docs/latest/learning/data_model/#logical-view
 */
function sortKey({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

class SortedObjects {
  readonly #objects: KubeObject[] = [];

  get(key: string): KubeObject | undefined {
    const found = this.#objects[this.#placeOf(key)];
    return found !== undefined && sortKey(found) === key ? found : undefined;
  }

  set(key: string, object: KubeObject): void {
    this.#objects.splice(this.#placeOf(key), this.get(key) === undefined ? 0 : 1, object);
  }

  delete(key: string): void {
    if (this.get(key) !== undefined) this.#objects.splice(this.#placeOf(key), 1);
  }

  list(namespace: string | undefined): readonly KubeObject[] {
    // No character lies between `/` and `0`.
    const bounds = namespace === undefined ? [] : [`${namespace}/`, `${namespace}0`];
    return this.#objects.slice(...bounds.map((key) => this.#placeOf(key)));
  }

  /** Returns the index of the key, or the index at which it would be inserted. */
  #placeOf(key: string): number {
    let from = 0;
    let to = this.#objects.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const object = this.#objects[middle];
      if (object !== undefined && sortKey(object) < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
