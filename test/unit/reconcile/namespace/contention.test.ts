import { describe, expect, test } from 'vitest';
import { Contention } from '../../../../src/reconcile/namespace/contention.ts';

class Quarrel {
  now = 1000;
  readonly contention = new Contention({ monotonic: () => this.now });

  /** How often it may be written before it has to be left alone, when it is changed back so often. */
  rewrites(everyMs: number, most = 100): number {
    for (let count = 0; count < most; count += 1) {
      if (this.contention.pauseFor('ns/key', 'content') > 0) return count;
      this.contention.wrote('ns/key', 'content');
      this.now += everyMs;
    }
    return most;
  }
}

describe('an object that somebody changes back', () => {
  test('again and again is left alone after ten times, and then for twice as long each time', () => {
    const quarrel = new Quarrel();
    expect(quarrel.rewrites(1000)).toBe(10);
    const { contention } = quarrel;
    const pauses = [];
    for (let round = 0; round < 5; round += 1) {
      const pause = contention.pauseFor('ns/key', 'content');
      pauses.push(Math.round(pause / 1000));
      quarrel.now += pause;
      expect(contention.pauseFor('ns/key', 'content')).toBe(0);
      contention.wrote('ns/key', 'content');
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80]);
  });

  test('now and then is put right each time', () => {
    expect(new Quarrel().rewrites(7000)).toBe(100);
  });

  test('is written at once when its content has changed', () => {
    const quarrel = new Quarrel();
    quarrel.rewrites(1000);
    expect(quarrel.contention.pauseFor('ns/key', 'other')).toBe(0);
    expect(quarrel.contention.pauseFor('ns/other', 'content')).toBe(0);
  });

  test('and is then left in peace is forgotten', () => {
    const quarrel = new Quarrel();
    quarrel.rewrites(1000);
    quarrel.now += 120_000;
    quarrel.contention.wrote('ns/other', 'x');
    expect(quarrel.rewrites(1000)).toBe(10);
  });
});
