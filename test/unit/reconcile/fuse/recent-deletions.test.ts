import { expect, test } from 'vitest';
import { RecentDeletions } from '../../../../src/reconcile/fuse/deletion-gate.ts';

test('deletions within ten seconds are one entry, which is never older than the deletions', () => {
  const recent = new RecentDeletions();
  recent.add(1000);
  recent.add(9000);
  recent.add(10_001, 3);
  expect([recent.count(0), recent.count(10_000), recent.count(20_000)]).toEqual([5, 3, 0]);
  expect(recent.entries(0, 20_000)).toEqual([
    { at: 10_000, count: 2 },
    { at: 20_000, count: 3 },
  ]);
});

test('entries outside the ten minutes are forgotten when the status is written', () => {
  const recent = new RecentDeletions();
  recent.restore([{ at: 10_000, count: 2 }]);
  recent.add(25_000);
  expect(recent.entries(10_000, 30_000)).toEqual([{ at: 30_000, count: 1 }]);
  expect(recent.count(0)).toBe(1);
});

test('a clock that was set back does not make deletions count for longer than ten minutes', () => {
  const recent = new RecentDeletions();
  recent.add(3_600_000);
  expect(recent.entries(-600_000, 1000)).toEqual([{ at: 10_000, count: 1 }]);
});
