// Limits the rate at which the same content is written to an object that another client keeps changing back.
import { createHash } from 'node:crypto';
import type { WriteStep } from '../../policy/plan/plan-claim.ts';
import type { Clock } from '../../base/clock.ts';

interface Rewrites {
  /** Hash of the written content. Other content is not a rewrite. */
  readonly fingerprint: string;
  /** Times of the writes within the last minute, in ascending order. */
  times: readonly number[];
  /** How many pauses there were in a row. */
  pauses: number;
  pausedUntil: number;
}

const windowMs = 60_000;
const maxRewrites = 10;
const firstPauseMs = 5000;
const maxPauseMs = 300_000;

/** After `maxRewrites` writes within a minute the object is left alone, twice as long each time. */
export class RewriteLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #rewrites = new Map<string, Rewrites>();
  #prunedAt = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns for how long the object must not be written with this content. 0: it may be written now. */
  pauseFor(id: string, fingerprint: string): number {
    const known = this.#rewrites.get(id);
    if (known?.fingerprint !== fingerprint) return 0;
    const now = this.#clock.monotonic();
    if (now < known.pausedUntil) return known.pausedUntil - now;
    const times = known.times.filter((time) => time > now - windowMs);
    if (times.length < maxRewrites) return 0;
    const pause = Math.min(maxPauseMs, firstPauseMs * 2 ** known.pauses);
    // Leaves room for one write after the pause. The next rewrite then begins a pause that is twice as long.
    this.#rewrites.set(id, {
      fingerprint,
      times: times.slice(1 - maxRewrites).map(() => now + pause),
      pauses: known.pauses + 1,
      pausedUntil: now + pause,
    });
    return pause;
  }

  wrote(id: string, fingerprint: string): void {
    const now = this.#clock.monotonic();
    this.#prune(now);
    const known = this.#rewrites.get(id);
    const same = known?.fingerprint === fingerprint ? known : undefined;
    const times = [...(same?.times ?? []), now].slice(-maxRewrites);
    this.#rewrites.set(id, { fingerprint, times, pauses: same?.pauses ?? 0, pausedUntil: 0 });
  }

  /** Drops objects whose last write and pause are too long ago to count. */
  #prune(now: number): void {
    if (now - this.#prunedAt < windowMs) return;
    this.#prunedAt = now;
    for (const [id, { times, pausedUntil }] of this.#rewrites) {
      const last = Math.max(times.at(-1) ?? 0, pausedUntil);
      if (last + windowMs < now) this.#rewrites.delete(id);
    }
  }
}

/** Two writes with the same content are the same write, whatever caused them. */
export function fingerprintOf({ object }: Pick<WriteStep, 'object'>): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('base64');
}
