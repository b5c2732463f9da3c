// Receives objects from a list-watch: the whole state after each list, then each change. Their versions can be compared.
import { labelsOf, namespacedName, valueOf, type KubeObject } from './metadata.ts';

/** The version of the empty list of a kind that the API server does not serve. */
export const unservedVersion = '0';

export interface WatchSink {
  /**
   * Replaces the state by these objects, as of that version. Objects that are not listed no longer exist. `isRestored`: etcd was
   * restored from a backup, so versions from before cannot be compared with these.
   */
  replaced(objects: readonly KubeObject[], resourceVersion: string, isRestored?: boolean): void;
  /** Adds or updates an object. The same name with another UID is another object. */
  changed(object: KubeObject): void;
  /** Removes an object, given in its last state, that was deleted or that the selector no longer selects. */
  removed(object: KubeObject): void;
}

/** Feeds the objects of one watch to several sinks. A sink that is added later hears of later changes alone. */
export class SharedSink implements WatchSink {
  readonly #sinks: WatchSink[];

  constructor(...sinks: WatchSink[]) {
    this.#sinks = sinks;
  }

  add(sink: WatchSink): void {
    this.#sinks.push(sink);
  }

  replaced(...list: Parameters<WatchSink['replaced']>): void {
    for (const sink of this.#sinks) sink.replaced(...list);
  }

  changed(object: KubeObject): void {
    for (const sink of this.#sinks) sink.changed(object);
  }

  removed(object: KubeObject): void {
    for (const sink of this.#sinks) sink.removed(object);
  }
}

/** Passes on the objects with this label. An object that loses the label counts as removed. */
export function labeledSink(label: string, sink: WatchSink): WatchSink {
  const passed = new Set<string>();
  const isWanted = (object: KubeObject): boolean => valueOf(labelsOf(object), label) !== undefined;
  const removed = (object: KubeObject): void => {
    if (passed.delete(namespacedName(object))) sink.removed(object);
  };
  return {
    replaced: (objects, resourceVersion) => {
      const wanted = objects.filter(isWanted);
      passed.clear();
      for (const object of wanted) passed.add(namespacedName(object));
      sink.replaced(wanted, resourceVersion);
    },
    changed: (object) => {
      if (!isWanted(object)) return removed(object);
      passed.add(namespacedName(object));
      sink.changed(object);
    },
    removed,
  };
}

// Compares resource versions, the numbers that the API server gives to each state of an object.

/**
 * Returns whether `version` is newer than `than`, another version of the same kind. Versions are decimal numbers of any
 * length that grow: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 * Two different versions that are not both numbers cannot be compared; `ifIncomparable` is the answer then. It is true
 * by default, because a needless update does less harm than a missed one.
 */
export function isNewerResourceVersion(
  version: string,
  than: string,
  { ifIncomparable = true }: { readonly ifIncomparable?: boolean } = {},
): boolean {
  if (version === than) return false;
  if (!isNumber(version) || !isNumber(than)) return ifIncomparable;
  const [a, b] = [withoutLeadingZeros(version), withoutLeadingZeros(than)];
  return a.length === b.length ? a > b : a.length > b.length;
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function withoutLeadingZeros(digits: string): string {
  return digits.startsWith('0') ? digits.replace(/^0+/, '') : digits;
}
