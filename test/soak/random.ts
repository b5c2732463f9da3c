// Random choices that the same seed repeats.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 up to, but not including, 1, with the generator known as mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    const [first] = items;
    if (first === undefined) throw new Error('there is nothing to choose from');
    return items[this.below(items.length)] ?? first;
  }

  /** Returns one of the keys, chosen by weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    const found = entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0];
    if (found === undefined) throw new Error('there is nothing to choose from');
    return found[0];
  }

  shuffled<T>(items: readonly T[]): readonly T[] {
    return items
      .map((item) => ({ item, rank: this.next() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }
}
