// Lets the undesired objects of one provider be deleted once they are counted together and stored in the status.
import { allowsDeletions, type DeletionTerms, type HeldDeletions } from '../../policy/plan/fuse.ts';
import { windowStart, type DeletionRecord, type RecentEntry } from '../../policy/terms/deletion-record.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import type { Clock } from '../../base/clock.ts';

// Counts the deletions of one provider within the last ten minutes, in steps that a status can store.

/** Deletions within one step are one entry, so a status has at most 61 of them. */
const stepMs = 10_000;

export class RecentDeletions {
  /** Keys are the ends of the steps. A deletion counts a little longer than ten minutes, never shorter. */
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
      // Without this, an entry would count until the clock reaches its time again, after the clock was set back.
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

export interface GateTimes {
  /** Deletions are counted when no further one has joined for this time. */
  readonly quietMs: number;
  /** The limit for that wait. */
  readonly maxMs: number;
}

export const gateTimes: GateTimes = { quietMs: 3000, maxMs: 15_000 };
export const noWait: GateTimes = { quietMs: 0, maxMs: 0 };

/** The highest number of UIDs in a status. */
const maxUnderway = 200;

type ByUid = Map<string, Observed>;

export type ObjectFate = 'undesired' | 'wanted' | 'deleted';

export interface GateTerms extends DeletionTerms {
  /** The annotation that holds the confirmed number. */
  readonly confirmation: string | undefined;
}

export class DeletionGate {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The time of day when the monotonic clock was 0. A clock that is set while the process runs changes no count. */
  readonly #epoch: number;
  readonly #times: GateTimes;
  /** Objects that no review has counted. They wait for others to join. */
  readonly #waiting: ByUid = new Map();
  /** Objects that a change of the spec dropped, and that its review has counted. */
  readonly #reviewed: ByUid = new Map();
  readonly #held: ByUid = new Map();
  /** Objects that are counted and allowed. */
  readonly #allowed: ByUid = new Map();
  /** Objects that are being stored in the status as underway. */
  readonly #next: ByUid = new Map();
  /** Objects that are in the status as underway, so they may be deleted. */
  readonly #underway: ByUid = new Map();
  /** UIDs whose DELETE the API server has not answered yet. */
  readonly #sent = new Set<string>();
  readonly #recent = new RecentDeletions();
  /** Namespaces with objects that have another verdict now. */
  readonly #news = new Set<string>();
  /** When the first and the last of the waiting objects joined. */
  #firstAt = 0;
  #lastAt = 0;
  /** When a held object last joined or left. */
  #changedAt = 0;
  #hold: { readonly since: number; count: number } | undefined;
  #usedConfirmation: string | undefined;
  #isRestored = false;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, times: GateTimes) {
    this.#clock = clock;
    this.#epoch = clock.now().getTime() - clock.monotonic();
    this.#times = times;
  }

  get isRestored(): boolean {
    return this.#isRestored;
  }

  /** A confirmation allows one batch of deletions. The status reports later that it is used. */
  get usedConfirmation(): string | undefined {
    return this.#usedConfirmation;
  }

  /** Forgets a confirmation whose annotation was changed or removed, so that the same text confirms again. */
  forgetConfirmationExcept(confirmation: string | undefined): void {
    if (this.#usedConfirmation !== confirmation) this.#usedConfirmation = undefined;
  }

  /** Lets the held objects wait again. If they are to be deleted after all, they are counted again. */
  endHold(): void {
    this.#hold = undefined;
    for (const live of this.#held.values()) this.join(live, false);
    this.#held.clear();
  }

  join(live: Observed, isReviewed: boolean): void {
    // The deletion failed, or its answer is on its way.
    if (this.#underway.has(live.uid) || this.#next.has(live.uid)) return;
    const now = this.#clock.monotonic();
    if (this.#hold !== undefined) this.#changedAt = now;
    if (isReviewed) {
      this.#waiting.delete(live.uid);
      this.#reviewed.set(live.uid, live);
      return;
    }
    if (this.#waiting.size === 0) this.#firstAt = now;
    this.#lastAt = now;
    this.#waiting.set(live.uid, live);
  }

  leave(uid: string, fate: 'wanted' | 'deleted'): void {
    if (this.#held.delete(uid)) this.#changedAt = this.#clock.monotonic();
    for (const known of [this.#waiting, this.#reviewed, this.#allowed]) known.delete(uid);
    // The answer to the DELETE decides about this object.
    if (this.#sent.has(uid)) return;
    const wasAllowed = this.#next.delete(uid) || this.#underway.delete(uid);
    if (wasAllowed && fate === 'deleted') this.#recent.add(this.#now());
  }

  isUnderway(uid: string): boolean {
    return this.#underway.has(uid);
  }

  /** Sends a DELETE. Until its end is known, the object counts exactly once: as underway or as deleted. */
  async deleting(uid: string, remove: () => Promise<void>, fateNow: () => ObjectFate): Promise<void> {
    this.#sent.add(uid);
    let isDeleted = false;
    try {
      await remove();
      isDeleted = true;
    } finally {
      this.#sent.delete(uid);
      const fate = isDeleted ? 'deleted' : fateNow();
      if (fate !== 'undesired') this.leave(uid, fate);
    }
  }

  /**
   * Takes over the record of the status, from a former leader or a former process. Only objects that it names are allowed,
   * because a mere number would let other objects pass.
   */
  restore({ held, recent, underway }: DeletionRecord, isThere: (uid: string) => boolean): void {
    if (this.#isRestored) return;
    this.#isRestored = true;
    this.#recent.restore(recent);
    for (const uid of underway) {
      const live = this.#waiting.get(uid);
      if (live !== undefined) {
        this.#waiting.delete(uid);
        this.#underway.set(uid, live);
        this.#news.add(live.namespace);
      } else if (!isThere(uid)) this.#recent.add(this.#now());
    }
    if (held !== undefined) this.#beginHold(held.since);
  }

  /** Returns the held deletions. Undefined while nothing is held. */
  heldBy({ limit }: DeletionTerms): HeldDeletions | undefined {
    if (this.#hold === undefined) return undefined;
    const { since, count } = this.#hold;
    return { count, recent: this.#earlier(), limit, since };
  }

  /** Returns the milliseconds until `judge` has work. Undefined if only a change brings work. */
  dueIn({ limit, confirmed }: GateTerms): number | undefined {
    const now = this.#clock.monotonic();
    if (!this.#isRestored || this.#next.size + this.#reviewed.size > 0) return 0;
    if (this.#allowed.size > 0 && this.#hasRoom()) return 0;
    if (this.#hold !== undefined) {
      const count = this.#held.size;
      if (this.#waiting.size > 0 || count === 0 || confirmed >= count || this.#hold.count !== count) return 0;
      return count + this.#earlier() <= limit ? Math.max(0, this.#quietAt(this.#changedAt) - now) : undefined;
    }
    return this.#waiting.size === 0 ? undefined : Math.max(0, this.#waitEnd() - now);
  }

  judge(terms: GateTerms): void {
    if (this.#hold === undefined) {
      if (this.#reviewed.size > 0) this.#judgeTogether(this.#reviewed, terms);
      if (this.#waiting.size > 0 && this.#clock.monotonic() >= this.#waitEnd())
        this.#judgeTogether(this.#waiting, terms);
    }
    if (this.#hold !== undefined) this.#judgeHeld(terms);
    if (this.#next.size === 0 && this.#hasRoom()) this.#fill();
  }

  get isHolding(): boolean {
    return this.#hold !== undefined;
  }

  /** True while allowed objects are not underway yet. */
  get hasMore(): boolean {
    return this.#allowed.size > 0;
  }

  /** True if the status must store a record before objects may be deleted. */
  get mustBeStored(): boolean {
    return this.#next.size > 0;
  }

  /** Returns the record that the status has to store. */
  record(): DeletionRecord {
    const since = this.#windowStart();
    return {
      held: this.#hold,
      recent: this.#recent.entries(since, this.#now()),
      underway: [...this.#underway.keys(), ...this.#next.keys()],
    };
  }

  /** Notes that the status is stored. Returns the namespaces to reconcile. */
  commit(): ReadonlySet<string> {
    for (const [uid, live] of this.#next) {
      this.#underway.set(uid, live);
      this.#news.add(live.namespace);
    }
    this.#next.clear();
    const news = new Set(this.#news);
    this.#news.clear();
    return news;
  }

  /** Notes that the status is not stored, so that it may differ from our record. */
  rollBack(): void {
    move(this.#next, this.#allowed);
  }

  #judgeTogether(objects: ByUid, terms: GateTerms): void {
    const count = objects.size;
    const earlier = this.#earlier();
    if (allowsDeletions({ count, earlier, ...terms }))
      this.#allow(objects, count + earlier > terms.limit, terms);
    else this.#beginHold(this.#now());
  }

  #beginHold(since: number): void {
    this.#hold = { since, count: 0 };
    this.#changedAt = this.#clock.monotonic();
  }

  #judgeHeld(terms: GateTerms): void {
    for (const joined of [this.#reviewed, this.#waiting]) {
      for (const { namespace } of joined.values()) this.#news.add(namespace);
      move(joined, this.#held);
    }
    const count = this.#held.size;
    if (this.#hold !== undefined) this.#hold.count = count;
    const isWithinLimit = count + this.#earlier() <= terms.limit;
    const isQuiet = this.#clock.monotonic() >= this.#quietAt(this.#changedAt);
    if (count > 0 && terms.confirmed < count && !(isWithinLimit && isQuiet)) return;
    const isConfirmed = terms.confirmed >= count && !isWithinLimit;
    this.#allow(this.#held, isConfirmed, terms);
    this.#hold = undefined;
  }

  #allow(objects: ByUid, isConfirmed: boolean, { confirmation }: GateTerms): void {
    move(objects, this.#allowed);
    if (isConfirmed) this.#usedConfirmation = confirmation;
  }

  #hasRoom(): boolean {
    return this.#underway.size <= maxUnderway / 2;
  }

  #fill(): void {
    for (const [uid, live] of this.#allowed) {
      if (this.#underway.size + this.#next.size >= maxUnderway) return;
      this.#allowed.delete(uid);
      this.#next.set(uid, live);
    }
  }

  /** Counts the deletions that count together with those being judged. */
  #earlier(): number {
    const open = this.#allowed.size + this.#next.size + this.#underway.size;
    return open + this.#recent.count(this.#windowStart());
  }

  #windowStart(): number {
    return windowStart(this.#hold, this.#now());
  }

  #waitEnd(): number {
    return Math.min(this.#quietAt(this.#lastAt), this.#firstAt + this.#times.maxMs);
  }

  #quietAt(since: number): number {
    return since + this.#times.quietMs;
  }

  #now(): number {
    return this.#epoch + this.#clock.monotonic();
  }
}

function move(from: ByUid, to: ByUid): void {
  for (const [uid, live] of from) to.set(uid, live);
  from.clear();
}
