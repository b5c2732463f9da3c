// How many objects have been deleted for each owner within the last minute.
import type { ProviderId } from '../../policy/terms/provider-id.ts';

const recentMs = 60_000;
const mostOwners = 1000;

export class RecentDeletions {
  readonly #monotonic: () => number;
  /** When each was deleted, the first one first. */
  readonly #times = new Map<ProviderId, number[]>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** By name: who deletes an owner and makes it again has no second allowance. */
  add(owner: ProviderId): void {
    // Owners that are gone are asked for no more; what was deleted for them must not be remembered for ever.
    if (this.#times.size > mostOwners) for (const known of this.#times.keys()) this.#recent(known);
    const times = this.#times.get(owner);
    if (times === undefined) this.#times.set(owner, [this.#monotonic()]);
    else times.push(this.#monotonic());
  }

  count(owner: ProviderId): number {
    return this.#recent(owner).length;
  }

  /** In how many milliseconds the first of them counts no more. */
  nextLapse(owner: ProviderId): number | undefined {
    const [first] = this.#recent(owner);
    return first === undefined ? undefined : first + recentMs - this.#monotonic();
  }

  #recent(owner: ProviderId): readonly number[] {
    const times = this.#times.get(owner);
    if (times === undefined) return [];
    const since = this.#monotonic() - recentMs;
    const [first] = times;
    if (first !== undefined && first > since) return times;
    const index = times.findIndex((time) => time > since);
    if (index === -1) {
      this.#times.delete(owner);
      return [];
    }
    times.splice(0, index);
    return times;
  }
}
