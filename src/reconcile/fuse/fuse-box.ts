// The fuse at work: judges each owner by what is there now and what has gone lately, and remembers what it let go.
import { judgeFuse, type FuseVerdict } from '../../policy/plan/fuse.ts';
import { kindOfProvider, type ProviderId, type ProviderState } from '../../policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import type { Census } from './census.ts';
import type { Clock } from '../../base/clock.ts';
import type { KindProbe } from '../ports.ts';
import { RecentDeletions } from './recent-deletions.ts';

export interface FuseBoxOptions {
  readonly snapshot: () => ClusterSnapshot;
  readonly census: Census;
  readonly kinds: KindProbe;
  readonly time: Clock;
}

/** An object of which the API server has been asked to delete it, and has not answered yet. */
interface Leaving {
  readonly owner: ProviderId;
  /** Whether it still counts as outstanding: its watch may tell of its end before the answer comes. */
  readonly isThere: () => boolean;
}

export class FuseBox {
  readonly #options: FuseBoxOptions;
  readonly #recent: RecentDeletions;
  /** By UIDs of owners that go: whether the definition of their kind was going when they had been seen to go. */
  readonly #goWithKind = new Map<string, boolean>();
  /** UIDs of owners that go and whose objects are released: what is left of them must not come to be deleted after all. */
  readonly #released = new Set<string>();
  readonly #leaving = new Set<Leaving>();

  constructor(options: FuseBoxOptions) {
    this.#options = options;
    this.#recent = new RecentDeletions(() => options.time.monotonic());
  }

  /** Whether all is known that has to be asked before these can be judged. */
  isPrepared(owners: readonly ProviderId[]): boolean {
    return this.#unasked(owners).length === 0;
  }

  /** Asks for it. Rejects with a KubeError: then those who are still not prepared are not to be judged. */
  async prepare(owners: readonly ProviderId[], signal: AbortSignal): Promise<void> {
    const unasked = Map.groupBy(this.#unasked(owners), ({ id }) => kindOfProvider(id));
    const asked = await Promise.allSettled(
      [...unasked].map(async ([kind, states]) => {
        const isTerminating = await this.#options.kinds.isKindTerminating(kind, signal);
        const { owners: known } = this.#options.snapshot();
        for (const { id, uid } of states)
          if (known.get(id)?.uid === uid) this.#goWithKind.set(uid, isTerminating);
      }),
    );
    for (const each of asked) if (each.status === 'rejected') throw each.reason;
  }

  verdictOf(owner: ProviderId): FuseVerdict {
    const state = this.#options.snapshot().owners.get(owner);
    if (state !== undefined && this.#released.has(state.uid)) return { kind: 'release' };
    const recent = this.#recent.count(owner) + this.#leftUnanswered(owner);
    const count = { outstanding: this.outstanding(owner), recent };
    const verdict = judgeFuse(state, count, this.#goWithKind.get(state?.uid ?? '') === true);
    if (state?.isDeleting === true && verdict.kind === 'release') this.#released.add(state.uid);
    return verdict;
  }

  outstanding(owner: ProviderId): number {
    return this.#options.census.outstanding(owner);
  }

  /** Deletes an object for the owner: at no moment is it counted twice, nor not at all. */
  async deleting(owner: ProviderId, isThere: () => boolean, remove: () => Promise<void>): Promise<void> {
    const leaving: Leaving = { owner, isThere };
    this.#leaving.add(leaving);
    try {
      await remove();
      this.#recent.add(owner);
    } finally {
      this.#leaving.delete(leaving);
    }
  }

  /** When an owner that is held may be judged otherwise though nothing has happened. */
  nextLapse(owner: ProviderId): number | undefined {
    return this.#recent.nextLapse(owner);
  }

  forgetProvider(uid: string): void {
    this.#released.delete(uid);
    this.#goWithKind.delete(uid);
  }

  #leftUnanswered(owner: ProviderId): number {
    return [...this.#leaving].filter((each) => each.owner === owner && !each.isThere()).length;
  }

  /** The definition of a kind goes before what is of the kind, so only what is asked after that is an answer. */
  #unasked(owners: readonly ProviderId[]): readonly ProviderState[] {
    const states = this.#options.snapshot().owners;
    return owners
      .flatMap((id) => states.get(id) ?? [])
      .filter(({ uid, isDeleting }) => isDeleting && !this.#goWithKind.has(uid));
  }
}
