// Only so much work runs at once, in the order in which it came, also after an error.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from '../../../../src/reconcile/namespace/object-writes.ts';

test('at most two pieces of work run at once, and an error frees its place', async () => {
  const turns = new Turns(2);
  const order: string[] = [];
  let [running, most] = [0, 0];
  const results = await Promise.allSettled(
    ['a', 'b', 'c', 'd', 'e'].map((name) =>
      turns.take(async () => {
        order.push(name);
        running += 1;
        most = Math.max(most, running);
        await setImmediate();
        running -= 1;
        if (name === 'b') throw new Error(name);
      }),
    ),
  );
  expect([order.join(''), most]).toEqual(['abcde', 2]);
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
});
