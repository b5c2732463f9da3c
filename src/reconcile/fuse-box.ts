// The fuse at work: judges each owner by what is there now and what has gone lately, and remembers what it let go.
import { judgeFuse, type FuseVerdict } from '../policy/contents/fuse.ts';
import { kindOfOwner, type OwnerId, type OwnerKind } from '../policy/owner.ts';
import type { ClusterSnapshot } from '../policy/snapshot.ts';
import type { Census } from './census.ts';
import type { KindProbe, Time } from './ports.ts';
import { RecentDeletions } from './recent-deletions.ts';

export interface FuseBoxOptions {
  readonly snapshot: () => ClusterSnapshot;
  readonly census: Census;
  readonly kinds: KindProbe;
  readonly time: Time;
}

interface Probe {
  readonly until: number;
  readonly answer: Promise<boolean>;
  isTerminating: boolean;
}

/** For so long an answer about the definition of a kind is good. */
const probeMs = 3000;

export class FuseBox {
  readonly #options: FuseBoxOptions;
  readonly #recent: RecentDeletions;
  readonly #probes = new Map<OwnerKind, Probe>();
  /** UIDs of owners that go and whose objects are released: what is left of them must not come to be deleted after all. */
  readonly #released = new Set<string>();

  constructor(options: FuseBoxOptions) {
    this.#options = options;
    this.#recent = new RecentDeletions(() => options.time.monotonic());
  }

  /** Finds out what has to be asked before these can be judged. Rejects with a KubeError: then nobody is. */
  async prepare(owners: Iterable<OwnerId>, signal: AbortSignal): Promise<void> {
    const states = this.#options.snapshot().owners;
    const kinds = new Set([...owners].filter((id) => states.get(id)?.isDeleting === true).map(kindOfOwner));
    await Promise.all([...kinds].map((kind) => this.#probe(kind, signal)));
  }

  verdictOf(owner: OwnerId): FuseVerdict {
    const state = this.#options.snapshot().owners.get(owner);
    if (state !== undefined && this.#released.has(state.uid)) return { kind: 'release' };
    const count = { outstanding: this.outstanding(owner), recent: this.#recent.count(owner) };
    const isTerminating = this.#probes.get(kindOfOwner(owner))?.isTerminating === true;
    const verdict = judgeFuse(state, count, isTerminating);
    if (state?.isDeleting === true && verdict.kind === 'release') this.#released.add(state.uid);
    return verdict;
  }

  outstanding(owner: OwnerId): number {
    return this.#options.census.outstanding(owner);
  }

  /** An object has been deleted for the owner. */
  deleted(owner: OwnerId): void {
    this.#recent.add(owner);
  }

  /** When an owner that is held may be judged otherwise though nothing has happened. */
  nextLapse(owner: OwnerId): number | undefined {
    return this.#recent.nextLapse(owner);
  }

  forgetOwner(uid: string): void {
    this.#released.delete(uid);
  }

  async #probe(kind: OwnerKind, signal: AbortSignal): Promise<void> {
    const { kinds, time } = this.#options;
    const known = this.#probes.get(kind);
    if (known !== undefined && time.monotonic() < known.until) {
      await known.answer;
      return;
    }
    const answer = kinds.isKindTerminating(kind, signal);
    const probe: Probe = { until: time.monotonic() + probeMs, answer, isTerminating: false };
    this.#probes.set(kind, probe);
    try {
      probe.isTerminating = await answer;
    } catch (error) {
      this.#probes.delete(kind);
      throw error;
    }
  }
}
