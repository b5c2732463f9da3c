// The objects of one kind, always in the order of their keys.
import type { KubeObject } from '../../base/kube-object.ts';

/**
 * Lists come in the order of this text, as etcd keeps it: `team-a/x` stands before `team/x`.
 * https://etcd.io/docs/latest/learning/data_model/#logical-view
 */
export function sortKey({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

export class SortedObjects {
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
    // No character stands between `/` and `0`.
    const bounds = namespace === undefined ? [] : [`${namespace}/`, `${namespace}0`];
    return this.#objects.slice(...bounds.map((key) => this.#placeOf(key)));
  }

  /** Where the key stands, or would stand. */
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
