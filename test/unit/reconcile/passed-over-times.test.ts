import { expect, test } from 'vitest';
import { DueTimes } from '../../../src/reconcile/queue/due-times.ts';

test('times that are void do not pile up', () => {
  const due = new DueTimes<number>();
  for (let round = 0; round < 100; round += 1) {
    for (let key = 0; key < 100; key += 1) {
      due.set(key, 1_000_000 + round);
      if (key > 0) due.delete(key);
    }
  }
  expect(due.size).toBe(1);
  expect(due.held).toBeLessThan(200);
  expect([due.next(), due.take(1_000_000), due.next()]).toEqual([1_000_000, 0, undefined]);
});
