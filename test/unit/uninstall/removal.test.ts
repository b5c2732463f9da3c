// Work on many items in parallel keeps its limit and its order.
import { expect, test } from 'vitest';
import { inParallel } from '../../../src/uninstall/removal.ts';

test('each item is worked on once, within the limit, and the results have the order of the items', async () => {
  let running = 0;
  let most = 0;
  const results = await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    return item * 2;
  });
  expect(results).toEqual([2, 4, 6, 8, 10, 12, 14]);
  expect(most).toBe(3);
});

test('no items give no results', async () => {
  expect(await inParallel([], 3, () => Promise.resolve(1))).toEqual([]);
});
