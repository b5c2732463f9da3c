// Work on many things at a time keeps its bounds and its order.
import { expect, test } from 'vitest';
import { inParallel } from '../../../src/uninstall/in-parallel.ts';

test('every item is worked on once, no more at a time than may be, and answered in its place', async () => {
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

test('of nothing nothing comes', async () => {
  expect(await inParallel([], 3, () => Promise.resolve(1))).toEqual([]);
});
