import * as fc from 'fast-check';
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

const groupOf = (key: string): string => key.split('/')[0] ?? '';

function takeAll(ready: ReadyKeys<string>): readonly string[] {
  const taken: string[] = [];
  for (let next = ready.take(true); next !== undefined; next = ready.take(true)) taken.push(next.key);
  return taken;
}

test('a key of another group waits for one key of a group with thousands, not for all', () => {
  const ready = new ReadyKeys<string>(groupOf);
  for (let key = 0; key < 10_000; key += 1) ready.add(`tenant/${key}`, false);
  ready.add('shop/a', false);
  ready.add('bank/a', true);
  expect(takeAll(ready).slice(0, 5)).toEqual(['tenant/0', 'shop/a', 'bank/a', 'tenant/1', 'tenant/2']);
});

test('between two keys of one group, each group that waits has its turn, and no key is lost', () => {
  const keyArb = fc.record({
    key: fc.constantFrom('a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'b/2', 'c/1'),
    hasFailed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.uniqueArray(keyArb, { selector: ({ key }) => key }), (keys) => {
      const ready = new ReadyKeys<string>(groupOf);
      for (const { key, hasFailed } of keys) ready.add(key, hasFailed);
      const taken = takeAll(ready);
      expect(taken.toSorted()).toEqual(keys.map(({ key }) => key).toSorted());
      for (const { key } of keys) {
        // A group can have one line of failed keys and one of others.
        const mostOfOther = 2 * (1 + keys.filter((each) => groupOf(each.key) === groupOf(key)).length);
        const before = taken.slice(0, taken.indexOf(key)).map(groupOf);
        for (const group of ['a', 'b', 'c'].filter((each) => each !== groupOf(key)))
          expect(before.filter((each) => each === group).length).toBeLessThanOrEqual(mostOfOther);
      }
    }),
  );
});
