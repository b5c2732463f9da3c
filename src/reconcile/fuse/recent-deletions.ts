// Counts the deletions of one provider within the last ten minutes, in steps that a status can store.
import type { RecentEntry } from '../../policy/terms/deletion-record.ts';

/** Deletions within one step are one entry, so a status has at most 61 of them. */
const stepMs = 10_000;

export class RecentDeletions {
  /** By the end of each step. A deletion counts a little longer than ten minutes, never shorter. */
  readonly #counts = new Map<number, number>();

  add(now: number, count = 1): void {
    this.#put(endOfStep(now), count);
  }

  restore(entries: readonly RecentEntry[]): void {
    for (const { at, count } of entries) this.#put(at, count);
  }

  /** Counts the deletions after this time. */
  count(since: number): number {
    let sum = 0;
    for (const [at, count] of this.#counts) if (at > since) sum += count;
    return sum;
  }

  /** Returns the entries after this time and forgets the others. */
  entries(since: number, now: number): readonly RecentEntry[] {
    for (const [at, count] of this.#counts) {
      if (at <= since) this.#counts.delete(at);
      // The clock was set back. Without this, the entry would count until the clock is there again.
      else if (at > endOfStep(now)) {
        this.#counts.delete(at);
        this.add(now, count);
      }
    }
    return [...this.#counts].map(([at, count]) => ({ at, count })).sort((a, b) => a.at - b.at);
  }

  #put(at: number, count: number): void {
    this.#counts.set(at, (this.#counts.get(at) ?? 0) + count);
  }
}

function endOfStep(now: number): number {
  return Math.ceil(now / stepMs) * stepMs;
}
