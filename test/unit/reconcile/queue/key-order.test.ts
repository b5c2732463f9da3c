import { expect, test } from 'vitest';
import { DelayedKeys, ReadyKeys } from '../../../../src/reconcile/queue/key-order.ts';

test('entries of keys that are no longer delayed do not pile up', () => {
  const delayed = new DelayedKeys<number>();
  for (let round = 0; round < 100; round += 1) {
    for (let key = 0; key < 100; key += 1) {
      delayed.set(key, 1_000_000 + round);
      if (key > 0) delayed.delete(key);
    }
  }
  expect(delayed.heapSize).toBeLessThan(200);
  expect([delayed.next(), delayed.take(1_000_000), delayed.next()]).toEqual([1_000_000, 0, undefined]);
});

test('a key that was cleared is in no line any more', () => {
  const ready = new ReadyKeys<string>();
  ready.add('a', false, 'bulk');
  ready.clear();
  ready.promote('a');
  expect(ready.take(true)).toBeUndefined();
});
