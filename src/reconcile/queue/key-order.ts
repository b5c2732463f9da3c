// Sorts the keys of a queue: ready keys by arrival and in turn, delayed keys by due time. Private to queue.ts.

/** Returns the group of a key. The keys of one group wait for each other, and each group has its turn. */
export type GroupOf<K> = (key: K) => unknown;

/** `bulk`: one of many keys that were added together, such as all namespaces of a changed policy. */
export type Urgency = 'now' | 'bulk';

/**
 * While single keys wait as well, every fourth key comes from a bulk. In the order of arrival, a new namespace among 20,000
 * would wait half a minute while a Secret goes to all of them (docs/operate/scale.md).
 */
const bulkTurn = 4;

/** Keys that can start now. Keys that failed before have a line of their own, so that the queue can limit them. */
export class ReadyKeys<K> {
  readonly #fresh: FairLine<K>;
  readonly #failed: FairLine<K>;
  readonly #bulk = new Line<K>();
  /** Keys of `#bulk` that have not been taken or promoted. */
  readonly #inBulk = new Set<K>();
  #turns = 0;
  #takenSinceBulk = 0;

  constructor(groupOf: GroupOf<K> = (key) => key) {
    const nextTurn = (): number => (this.#turns += 1);
    this.#fresh = new FairLine(groupOf, nextTurn);
    this.#failed = new FairLine(groupOf, nextTurn);
  }

  add(key: K, hasFailed: boolean, urgency: Urgency = 'now'): void {
    if (urgency === 'bulk' && !hasFailed) {
      this.#inBulk.add(key);
      this.#bulk.push(key);
      return;
    }
    (hasFailed ? this.#failed : this.#fresh).push(key);
  }

  /** Called when a waiting key was added alone. */
  promote(key: K): void {
    if (this.#inBulk.delete(key)) this.add(key, false);
  }

  /** Removes and returns the key whose turn it is. Unless `mayHaveFailed`, skips keys that have failed. */
  take(mayHaveFailed: boolean): { readonly key: K; readonly hasFailed: boolean } | undefined {
    if (this.#takenSinceBulk + 1 >= bulkTurn) {
      const bulk = this.#takeBulk();
      if (bulk !== undefined) return bulk;
    }
    const failedTurn = mayHaveFailed ? this.#failed.turn : Infinity;
    const hasFailed = failedTurn < this.#fresh.turn;
    const key = (hasFailed ? this.#failed : this.#fresh).shift();
    if (key === undefined) return this.#takeBulk();
    this.#takenSinceBulk += 1;
    return { key, hasFailed };
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
    // Array.shift would move all items each time. Moving them once in a thousand times is cheap for long lines.
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

interface Group<K> {
  readonly id: unknown;
  readonly keys: Line<K>;
  turn: number;
}

/** Takes one key of each group in turn, so that a group of thousands delays another group by one key. */
class FairLine<K> {
  readonly #groupOf: GroupOf<K>;
  readonly #nextTurn: () => number;
  readonly #groups = new Map<unknown, Group<K>>();
  readonly #order = new Line<Group<K>>();

  constructor(groupOf: GroupOf<K>, nextTurn: () => number) {
    this.#groupOf = groupOf;
    this.#nextTurn = nextTurn;
  }

  /** Turn of the first key. Infinity: no key waits. */
  get turn(): number {
    return this.#order.first?.turn ?? Infinity;
  }

  push(key: K): void {
    const id = this.#groupOf(key);
    const group = this.#groups.get(id) ?? this.#begin(id);
    group.keys.push(key);
  }

  shift(): K | undefined {
    const group = this.#order.shift();
    if (group === undefined) return undefined;
    const key = group.keys.shift();
    if (group.keys.first === undefined) this.#groups.delete(group.id);
    else this.#queue(group);
    return key;
  }

  clear(): void {
    this.#groups.clear();
    this.#order.clear();
  }

  #begin(id: unknown): Group<K> {
    const group: Group<K> = { id, keys: new Line<K>(), turn: 0 };
    this.#groups.set(id, group);
    this.#queue(group);
    return group;
  }

  #queue(group: Group<K>): void {
    group.turn = this.#nextTurn();
    this.#order.push(group);
  }
}

interface Due<K> {
  readonly key: K;
  readonly at: number;
}

const maxStale = 64;

/** Holds each key at most once, at its earliest due time. A heap is fast enough for tens of thousands of keys. */
export class DelayedKeys<K> {
  readonly #times = new Map<K, number>();
  /** Can hold entries that are missing in `#times`. These are dropped at the top. */
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

  /** Drops stale entries with a late due time, which would otherwise pile up. */
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
