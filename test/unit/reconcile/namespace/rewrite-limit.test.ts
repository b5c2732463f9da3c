import { describe, expect, test } from 'vitest';
import { RewriteLimit } from '../../../../src/reconcile/namespace/step-executor.ts';

class Rival {
  now = 1000;
  readonly limit = new RewriteLimit({ monotonic: () => this.now });

  /** Returns how often the object is written before the limit, when the rival changes it back so often. */
  rewrites(everyMs: number, max = 100): number {
    for (let count = 0; count < max; count += 1) {
      if (this.limit.pauseFor('ns/key', 'content') > 0) return count;
      this.limit.wrote('ns/key', 'content');
      this.now += everyMs;
    }
    return max;
  }
}

describe('an object that a rival changes back', () => {
  test('every second is left alone after ten writes, and then twice as long each time', () => {
    const rival = new Rival();
    expect(rival.rewrites(1000)).toBe(10);
    const { limit } = rival;
    const pauses = [];
    for (let round = 0; round < 5; round += 1) {
      const pause = limit.pauseFor('ns/key', 'content');
      pauses.push(Math.round(pause / 1000));
      rival.now += pause;
      expect(limit.pauseFor('ns/key', 'content')).toBe(0);
      limit.wrote('ns/key', 'content');
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80]);
  });

  test('an object that a rival changes back now and then is corrected each time', () => {
    expect(new Rival().rewrites(7000)).toBe(100);
  });

  test('an object that a rival changes back is written at once when its desired content changes', () => {
    const rival = new Rival();
    rival.rewrites(1000);
    expect(rival.limit.pauseFor('ns/key', 'other')).toBe(0);
    expect(rival.limit.pauseFor('ns/other', 'content')).toBe(0);
  });

  test('an object that a rival changes back and then leaves alone for two minutes may be written ten times again', () => {
    const rival = new Rival();
    rival.rewrites(1000);
    rival.now += 120_000;
    rival.limit.wrote('ns/other', 'x');
    expect(rival.rewrites(1000)).toBe(10);
  });
});
