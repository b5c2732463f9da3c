// The deletion fuse: decides for each provider whether its undesired objects are deleted, released or held.
import { judgeFuse, type FuseVerdict, type ReleaseReason } from '../../policy/plan/fuse.ts';
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
  /** Called once for each deleted provider that leaves objects behind, unless its author asked for that. */
  readonly orphaned: (provider: ProviderId, why: ReleaseReason, count: number) => void;
}

/** A deletion that the API server has not answered yet. */
interface Deletion {
  readonly tally: string;
  /** True while the object still counts as undesired. Its watch can report the end before the answer arrives. */
  readonly isCounted: () => boolean;
}

export class Fuse {
  readonly #options: FuseOptions;
  /** Counted by tally: a provider that is created again must not pay for what its namesake deleted. */
  readonly #recent: RecentDeletions;
  /** By UID of a provider being deleted: whether its CustomResourceDefinition was being deleted at that time. */
  readonly #kindTerminating = new Map<string, boolean>();
  /** UIDs of providers being deleted whose objects are released. The rest of their objects must not be deleted later. */
  readonly #released = new Map<string, FuseVerdict>();
  /** Providers that no longer existed when their objects were released: another client had removed their finalizer. */
  readonly #unknown = new Set<ProviderId>();
  readonly #deletions = new Set<Deletion>();

  constructor(options: FuseOptions) {
    this.#options = options;
    this.#recent = new RecentDeletions(options.clock);
    options.cluster.subscribe((change) => {
      if (change.kind === 'namespace') return;
      this.#unknown.delete(change.id);
      if (change.before === undefined) return;
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
    const known = this.#released.get(state?.uid ?? '');
    if (known !== undefined) return known;
    const recent = state === undefined ? 0 : this.#recentOf(tallyOf(state));
    const count = { outstanding: this.outstanding(provider), recent };
    const verdict = judgeFuse(state, count, this.#kindTerminating.get(state?.uid ?? '') === true);
    if (state === undefined) this.#reportUnknown(provider, count.outstanding);
    if (state?.isDeleting === true && verdict.kind === 'release') {
      this.#released.set(state.uid, verdict);
      this.#reportRelease(provider, verdict.why, count.outstanding);
    }
    return verdict;
  }

  /** A policy that only adds fields to ServiceAccounts leaves no object behind. */
  #reportRelease(provider: ProviderId, why: ReleaseReason, count: number): void {
    if (why !== 'DeletionPolicyOrphan' && count > 0) this.#options.orphaned(provider, why, count);
  }

  #reportUnknown(provider: ProviderId, outstanding: number): void {
    if (outstanding === 0 || this.#unknown.has(provider)) return;
    this.#unknown.add(provider);
    this.#options.orphaned(provider, 'OwnerUnknown', outstanding);
  }

  outstanding(provider: ProviderId): number {
    return this.#options.undesired.of(provider);
  }

  /** Deletes an object. Until its end is known, the object counts exactly once: as undesired, or as recently deleted. */
  async deleting(provider: ProviderId, isCounted: () => boolean, remove: () => Promise<void>): Promise<void> {
    const state = this.#options.cluster.snapshot().providers.get(provider);
    const tally = state === undefined ? '' : tallyOf(state);
    const deletion: Deletion = { tally, isCounted };
    this.#deletions.add(deletion);
    try {
      await remove();
      this.#recent.add(tally);
    } finally {
      this.#deletions.delete(deletion);
    }
  }

  /** Returns in how many milliseconds a held provider can be judged differently, though nothing changes. */
  nextLapse(provider: ProviderId): number | undefined {
    const state = this.#options.cluster.snapshot().providers.get(provider);
    return state === undefined ? undefined : this.#recent.nextLapse(tallyOf(state));
  }

  #forget(uid: string): void {
    this.#released.delete(uid);
    this.#kindTerminating.delete(uid);
  }

  #recentOf(tally: string): number {
    const unanswered = [...this.#deletions].filter((each) => each.tally === tally && !each.isCounted());
    return this.#recent.count(tally) + unanswered.length;
  }

  /** A definition is deleted before the objects of its kind, so only an answer from after that counts. */
  #unasked(providers: readonly ProviderId[]): readonly ProviderState[] {
    const states = this.#options.cluster.snapshot().providers;
    return providers
      .flatMap((id) => states.get(id) ?? [])
      .filter(({ uid, isDeleting }) => isDeleting && !this.#kindTerminating.has(uid));
  }
}

/**
 * Names the deletions that count together. The webhook judged each change of the spec, and the DELETE, by the objects that it
 * removes alone. So deletions before such a write do not count after it. Every change of a spec raises the generation:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#status-subresource
 */
function tallyOf({ uid, generation, isDeleting }: ProviderState): string {
  return `${uid} ${isDeleting ? 'deleted' : generation}`;
}

const recentMs = 60_000;
const maxTallies = 1000;

/** Counts the objects that were deleted within the last minute. */
export class RecentDeletions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Times of deletion, in ascending order. */
  readonly #times = new Map<string, number[]>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  add(tally: string): void {
    // Times of deleted providers and of earlier generations are never read again, so they are dropped here.
    if (this.#times.size > maxTallies) for (const known of this.#times.keys()) this.#recent(known);
    const times = this.#times.get(tally);
    if (times === undefined) this.#times.set(tally, [this.#clock.monotonic()]);
    else times.push(this.#clock.monotonic());
  }

  count(tally: string): number {
    return this.#recent(tally).length;
  }

  /** Returns in how many milliseconds the first deletion no longer counts. */
  nextLapse(tally: string): number | undefined {
    const [first] = this.#recent(tally);
    return first === undefined ? undefined : first + recentMs - this.#clock.monotonic();
  }

  #recent(tally: string): readonly number[] {
    const times = this.#times.get(tally);
    if (times === undefined) return [];
    const since = this.#clock.monotonic() - recentMs;
    const [first] = times;
    if (first !== undefined && first > since) return times;
    const index = times.findIndex((time) => time > since);
    if (index === -1) {
      this.#times.delete(tally);
      return [];
    }
    times.splice(0, index);
    return times;
  }
}
