// The deletion fuse: decides for each provider whether its undesired objects are deleted, released or held.
import { judgeFuse, type FuseVerdict } from '../../policy/plan/fuse.ts';
import { kindOfProvider, type ProviderId, type ProviderState } from '../../policy/terms/provider-id.ts';
import type { Clock } from '../../base/clock.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { KindProbe } from '../ports.ts';
import type { UndesiredCounts } from './undesired-counts.ts';

export interface FuseOptions {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'subscribe'>;
  readonly undesired: UndesiredCounts;
  readonly kinds: KindProbe;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** A deletion that the API server has not answered yet. */
interface Deletion {
  readonly provider: ProviderId;
  /** True while the object still counts as undesired. Its watch can report the end before the answer arrives. */
  readonly isCounted: () => boolean;
}

export class Fuse {
  readonly #options: FuseOptions;
  readonly #recent: RecentDeletions;
  /** By UID of a provider being deleted: whether its CustomResourceDefinition was being deleted at that time. */
  readonly #kindTerminating = new Map<string, boolean>();
  /** UIDs of providers being deleted whose objects are released. The rest of their objects must not be deleted later. */
  readonly #released = new Set<string>();
  readonly #deletions = new Set<Deletion>();

  constructor(options: FuseOptions) {
    this.#options = options;
    this.#recent = new RecentDeletions(options.clock);
    options.cluster.subscribe((change) => {
      if (change.kind === 'namespace' || change.before === undefined) return;
      if (change.before.state.uid !== change.after?.state.uid) this.#forget(change.before.state.uid);
    });
  }

  /** Returns whether `prepare` has nothing to ask about these providers. */
  isPrepared(providers: readonly ProviderId[]): boolean {
    return this.#unasked(providers).length === 0;
  }

  /** Asks whether the kinds of these providers are being deleted. Rejects with a KubeError; do not judge them then. */
  async prepare(providers: readonly ProviderId[], signal: AbortSignal): Promise<void> {
    const unasked = Map.groupBy(this.#unasked(providers), ({ id }) => kindOfProvider(id));
    const asked = await Promise.allSettled(
      [...unasked].map(async ([kind, states]) => {
        const isTerminating = await this.#options.kinds.isKindTerminating(kind, signal);
        const known = this.#options.cluster.snapshot().providers;
        for (const { id, uid } of states)
          if (known.get(id)?.uid === uid) this.#kindTerminating.set(uid, isTerminating);
      }),
    );
    for (const each of asked) if (each.status === 'rejected') throw each.reason;
  }

  verdictOf(provider: ProviderId): FuseVerdict {
    const state = this.#options.cluster.snapshot().providers.get(provider);
    if (state !== undefined && this.#released.has(state.uid)) return { kind: 'release' };
    const recent = this.#recent.count(provider) + this.#unansweredOf(provider);
    const count = { outstanding: this.outstanding(provider), recent };
    const verdict = judgeFuse(state, count, this.#kindTerminating.get(state?.uid ?? '') === true);
    if (state?.isDeleting === true && verdict.kind === 'release') this.#released.add(state.uid);
    return verdict;
  }

  outstanding(provider: ProviderId): number {
    return this.#options.undesired.of(provider);
  }

  /** Deletes an object. Until its end is known, the object counts exactly once: as undesired, or as recently deleted. */
  async deleting(provider: ProviderId, isCounted: () => boolean, remove: () => Promise<void>): Promise<void> {
    const deletion: Deletion = { provider, isCounted };
    this.#deletions.add(deletion);
    try {
      await remove();
      this.#recent.add(provider);
    } finally {
      this.#deletions.delete(deletion);
    }
  }

  /** Returns in how many milliseconds a held provider can be judged differently, though nothing changes. */
  nextLapse(provider: ProviderId): number | undefined {
    return this.#recent.nextLapse(provider);
  }

  #forget(uid: string): void {
    this.#released.delete(uid);
    this.#kindTerminating.delete(uid);
  }

  #unansweredOf(provider: ProviderId): number {
    return [...this.#deletions].filter((each) => each.provider === provider && !each.isCounted()).length;
  }

  /** A definition is deleted before the objects of its kind, so only an answer from after that counts. */
  #unasked(providers: readonly ProviderId[]): readonly ProviderState[] {
    const states = this.#options.cluster.snapshot().providers;
    return providers
      .flatMap((id) => states.get(id) ?? [])
      .filter(({ uid, isDeleting }) => isDeleting && !this.#kindTerminating.has(uid));
  }
}

const recentMs = 60_000;
const maxProviders = 1000;

/** Counts the objects that were deleted for each provider within the last minute. */
export class RecentDeletions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Times of deletion, in ascending order. */
  readonly #times = new Map<ProviderId, number[]>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Counted by name: deleting a provider and creating it again must not reset its count. */
  add(provider: ProviderId): void {
    // Times of deleted providers are never read again, so they are dropped here.
    if (this.#times.size > maxProviders) for (const known of this.#times.keys()) this.#recent(known);
    const times = this.#times.get(provider);
    if (times === undefined) this.#times.set(provider, [this.#clock.monotonic()]);
    else times.push(this.#clock.monotonic());
  }

  count(provider: ProviderId): number {
    return this.#recent(provider).length;
  }

  /** Returns in how many milliseconds the first deletion no longer counts. */
  nextLapse(provider: ProviderId): number | undefined {
    const [first] = this.#recent(provider);
    return first === undefined ? undefined : first + recentMs - this.#clock.monotonic();
  }

  #recent(provider: ProviderId): readonly number[] {
    const times = this.#times.get(provider);
    if (times === undefined) return [];
    const since = this.#clock.monotonic() - recentMs;
    const [first] = times;
    if (first !== undefined && first > since) return times;
    const index = times.findIndex((time) => time > since);
    if (index === -1) {
      this.#times.delete(provider);
      return [];
    }
    times.splice(0, index);
    return times;
  }
}
