// Keys that are to be looked at later, the one that is due first at hand. A heap, because there can be tens of thousands.

interface Due<K> {
  readonly key: K;
  readonly at: number;
}

const mostStale = 64;

/** Each key at most once, at its earliest time. */
export class DueTimes<K> {
  readonly #times = new Map<K, number>();
  /** May hold entries that `#times` does not know any more: they are passed over when they come to the top. */
  #heap: Due<K>[] = [];

  get size(): number {
    return this.#times.size;
  }

  set(key: K, at: number): void {
    const known = this.#times.get(key);
    if (known !== undefined && known <= at) return;
    this.#times.set(key, at);
    this.#push({ key, at });
    this.#shrink();
  }

  delete(key: K): void {
    this.#times.delete(key);
    this.#shrink();
  }

  clear(): void {
    this.#times.clear();
    this.#heap = [];
  }

  /** How many entries are held, those included that will be passed over. */
  get held(): number {
    return this.#heap.length;
  }

  /** When the first key is due. */
  next(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.at;
  }

  /** Takes the first key out if its time has come. */
  take(now: number): K | undefined {
    const at = this.next();
    const [first] = this.#heap;
    if (at === undefined || first === undefined || at > now) return undefined;
    this.#pop();
    this.#times.delete(first.key);
    return first.key;
  }

  #dropStale(): void {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#times.get(first.key) === first.at) return;
      this.#pop();
    }
  }

  /** What is passed over only when its time comes must not pile up until then. */
  #shrink(): void {
    if (this.#heap.length <= 2 * this.#times.size + mostStale) return;
    // What is in order is a heap.
    this.#heap = [...this.#times].map(([key, at]) => ({ key, at })).sort((a, b) => a.at - b.at);
  }

  #push(due: Due<K>): void {
    const heap = this.#heap;
    let index = heap.push(due) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.at <= due.at) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (let below = this.#smallerChild(0); below !== undefined; below = this.#smallerChild(index)) {
      if (below.due.at >= last.at) break;
      heap[index] = below.due;
      index = below.index;
    }
    heap[index] = last;
  }

  #smallerChild(index: number): { readonly index: number; readonly due: Due<K> } | undefined {
    const left = this.#heap[2 * index + 1];
    const right = this.#heap[2 * index + 2];
    if (left === undefined) return undefined;
    return right !== undefined && right.at < left.at
      ? { index: 2 * index + 2, due: right }
      : { index: 2 * index + 1, due: left };
  }
}
