// Keeps listeners in two groups, so that the order of their calls does not depend on the order of subscription.

export interface ListenerOptions {
  /** Call it after all listeners without this option. For a listener that starts work, which reads what others cache. */
  readonly last?: boolean;
}

export class Listeners<T> {
  readonly #first = new Set<T>();
  readonly #last = new Set<T>();

  /** Returns the unsubscriber. */
  add(listener: T, { last = false }: ListenerOptions = {}): () => void {
    const group = last ? this.#last : this.#first;
    group.add(listener);
    return () => void group.delete(listener);
  }

  *[Symbol.iterator](): Generator<T> {
    yield* this.#first;
    yield* this.#last;
  }
}
