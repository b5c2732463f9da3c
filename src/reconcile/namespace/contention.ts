// Notices an object that somebody changes back again and again, and how long it is to be left alone then.
import type { Clock } from '../../base/clock.ts';

interface Rewrites {
  /** What was written; another content is no rewrite. */
  readonly fingerprint: string;
  /** When, the first one first; within the last minute. */
  times: readonly number[];
  /** How often in a row it had to be left alone. */
  pauses: number;
  pausedUntil: number;
}

const windowMs = 60_000;
/** More rewrites than these within a minute are a quarrel. */
const mostRewrites = 10;
const firstPauseMs = 5000;
const longestPauseMs = 300_000;

export class Contention {
  readonly #monotonic: () => number;
  readonly #rewrites = new Map<string, Rewrites>();
  #prunedAt = 0;

  constructor(time: Pick<Clock, 'monotonic'>) {
    this.#monotonic = () => time.monotonic();
  }

  /** For how long the object must not be written with this content; 0: it may be. */
  pauseFor(id: string, fingerprint: string): number {
    const known = this.#rewrites.get(id);
    if (known?.fingerprint !== fingerprint) return 0;
    const now = this.#monotonic();
    if (now < known.pausedUntil) return known.pausedUntil - now;
    const times = known.times.filter((time) => time > now - windowMs);
    if (times.length < mostRewrites) return 0;
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** known.pauses);
    // After the pause it is written once, and the next pause is twice as long if that does not last.
    this.#rewrites.set(id, {
      fingerprint,
      times: times.slice(1 - mostRewrites).map(() => now + pause),
      pauses: known.pauses + 1,
      pausedUntil: now + pause,
    });
    return pause;
  }

  wrote(id: string, fingerprint: string): void {
    const now = this.#monotonic();
    this.#prune(now);
    const known = this.#rewrites.get(id);
    const same = known?.fingerprint === fingerprint ? known : undefined;
    const times = [...(same?.times ?? []), now].slice(-mostRewrites);
    this.#rewrites.set(id, { fingerprint, times, pauses: same?.pauses ?? 0, pausedUntil: 0 });
  }

  /** What has been quiet for longer than anything counts is forgotten. */
  #prune(now: number): void {
    if (now - this.#prunedAt < windowMs) return;
    this.#prunedAt = now;
    for (const [id, { times, pausedUntil }] of this.#rewrites) {
      const last = Math.max(times.at(-1) ?? 0, pausedUntil);
      if (last + windowMs < now) this.#rewrites.delete(id);
    }
  }
}
