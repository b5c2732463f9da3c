// Sorts the keys of a queue: ready keys by arrival, delayed keys by due time. Private to queue.ts.

interface Ready<K> {
  readonly key: K;
  readonly order: number;
}

/** `bulk`: one of many keys that were added together, such as all namespaces of a changed policy. */
export type Urgency = 'now' | 'bulk';

/**
 * While single keys wait, too, every fourth key is of a bulk. In the order of arrival, a new namespace of a cluster with 20,000
 * waits half a minute while a Secret goes to all of them (docs/operate/scale.md).
 */
const bulkTurn = 4;

/** Keys that can start now. Keys that failed before stand in a line of their own, so that the queue can limit them. */
export class ReadyKeys<K> {
  readonly #fresh = new Line<Ready<K>>();
  readonly #failed = new Line<Ready<K>>();
  readonly #bulk = new Line<K>();
  /** Keys of `#bulk` that have not been taken or promoted. */
  readonly #inBulk = new Set<K>();
  #added = 0;
  #takenSinceBulk = 0;

  add(key: K, hasFailed: boolean, urgency: Urgency = 'now'): void {
    if (urgency === 'bulk' && !hasFailed) {
      this.#inBulk.add(key);
      this.#bulk.push(key);
      return;
    }
    this.#added += 1;
    (hasFailed ? this.#failed : this.#fresh).push({ key, order: this.#added });
  }

  /** Call it when a key that waits has been added alone. */
  promote(key: K): void {
    if (this.#inBulk.delete(key)) this.add(key, false);
  }

  /** Removes and returns the oldest key, or the oldest key that has not failed. */
  take(mayHaveFailed: boolean): { readonly key: K; readonly hasFailed: boolean } | undefined {
    if (this.#takenSinceBulk + 1 >= bulkTurn) {
      const bulk = this.#takeBulk();
      if (bulk !== undefined) return bulk;
    }
    const [fresh, failed] = [this.#fresh.first, mayHaveFailed ? this.#failed.first : undefined];
    const hasFailed = failed !== undefined && (fresh === undefined || failed.order < fresh.order);
    const first = (hasFailed ? this.#failed : this.#fresh).shift();
    if (first === undefined) return this.#takeBulk();
    this.#takenSinceBulk += 1;
    return { key: first.key, hasFailed };
  }

  clear(): void {
    for (const line of [this.#fresh, this.#failed, this.#bulk, this.#inBulk]) line.clear();
  }

  #takeBulk(): { readonly key: K; readonly hasFailed: boolean } | undefined {
    this.#takenSinceBulk = 0;
    for (let key = this.#bulk.shift(); key !== undefined; key = this.#bulk.shift()) {
      if (this.#inBulk.delete(key)) return { key, hasFailed: false };
    }
    return undefined;
  }
}

/** First in, first out. */
class Line<T> {
  readonly #items: T[] = [];
  #head = 0;

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const { first } = this;
    if (first === undefined) return undefined;
    this.#head += 1;
    // Array.shift moves all items; moving them once in a thousand times keeps long lines cheap.
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return first;
  }

  clear(): void {
    this.#items.length = 0;
    this.#head = 0;
  }
}

interface Due<K> {
  readonly key: K;
  readonly at: number;
}

const maxStale = 64;

/** Each key at most once, at its earliest due time. A binary heap, because there can be tens of thousands of keys. */
export class DelayedKeys<K> {
  readonly #times = new Map<K, number>();
  /** Can hold entries that `#times` no longer has. They are dropped when they reach the top. */
  #heap: Due<K>[] = [];

  set(key: K, at: number): void {
    const known = this.#times.get(key);
    if (known !== undefined && known <= at) return;
    this.#times.set(key, at);
    this.#push({ key, at });
    this.#dropManyStale();
  }

  delete(key: K): void {
    this.#times.delete(key);
    this.#dropManyStale();
  }

  clear(): void {
    this.#times.clear();
    this.#heap = [];
  }

  /** Number of heap entries, stale entries included. */
  get heapSize(): number {
    return this.#heap.length;
  }

  /** Due time of the first key. */
  next(): number | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#times.get(first.key) === first.at) return first.at;
      this.#pop();
    }
    return undefined;
  }

  /** Removes and returns the first key if it is due. */
  take(now: number): K | undefined {
    const at = this.next();
    const [first] = this.#heap;
    if (at === undefined || first === undefined || at > now) return undefined;
    this.#pop();
    this.#times.delete(first.key);
    return first.key;
  }

  /** Stale entries with a late due time would pile up until then. */
  #dropManyStale(): void {
    if (this.#heap.length <= 2 * this.#times.size + maxStale) return;
    // A sorted array is a valid heap.
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
