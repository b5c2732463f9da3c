// Remembers which objects violate rules of one policy: how many violations each has, and the first ones in words.
import type { Violation } from '../../policy/terms/verdict.ts';

/** The number of objects whose violations are kept in words: as many as a status lists. */
const maxDescribed = 20;

/** Objects of one resource. Memory grows with the violating objects, never with all objects. */
export class Violators {
  /** By `namespace/name`. */
  readonly #counts = new Map<string, number>();
  readonly #described = new Map<string, readonly Violation[]>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** False when objects were corrected and the next ones are not known in words. Another sweep fills the list. */
  get isFull(): boolean {
    return this.#described.size >= Math.min(this.#counts.size, maxDescribed);
  }

  keys(): Iterable<string> {
    return this.#counts.keys();
  }

  /** Returns whether anything changed. */
  set(key: string, violations: readonly Violation[]): boolean {
    if (violations.length === 0) return this.delete(key);
    const before = this.#counts.get(key) ?? 0;
    this.#total += violations.length - before;
    this.#counts.set(key, violations.length);
    return this.#describe(key, violations) || before !== violations.length;
  }

  delete(key: string): boolean {
    const before = this.#counts.get(key);
    if (before === undefined) return false;
    this.#total -= before;
    this.#counts.delete(key);
    this.#described.delete(key);
    return true;
  }

  /** Returns the first objects with their violations, ordered by namespace and name. */
  first(): readonly (readonly [key: string, violations: readonly Violation[]])[] {
    return [...this.#described].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #describe(key: string, violations: readonly Violation[]): boolean {
    const kept = violations.slice(0, maxDescribed);
    const before = this.#described.get(key);
    if (before === undefined && this.#described.size >= maxDescribed) {
      const [last = ''] = [...this.#described.keys()].sort().slice(-1);
      if (key > last) return false;
      this.#described.delete(last);
    }
    this.#described.set(key, kept);
    return JSON.stringify(before) !== JSON.stringify(kept);
  }
}
