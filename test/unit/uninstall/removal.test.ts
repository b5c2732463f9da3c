// Work on many items keeps its limit and its order; rounds of clearing end when nothing is left, or nothing gets less.
import { describe, expect, test } from 'vitest';
import { clearInRounds, inParallel, type Round } from '../../../src/uninstall/removal.ts';

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

describe('clearing in rounds', () => {
  const patienceMs = 60_000;
  /** Each round takes `roundMs`, and finds what the next number says. */
  const clearing = async (founds: readonly number[], roundMs: number) => {
    let [rounds, now] = [0, 0];
    const pass = (milliseconds: number): Promise<void> => {
      now += milliseconds;
      return Promise.resolve();
    };
    const round = async (): Promise<Round> => {
      const found = founds[Math.min(rounds, founds.length - 1)] ?? 0;
      rounds += 1;
      await pass(roundMs);
      const problems = Array.from({ length: found }, (_, index) => `object ${index} comes back`);
      return { found, notDone: problems };
    };
    const problems = await clearInRounds(round, patienceMs, { monotonic: () => now, sleep: pass });
    return { problems, rounds };
  };

  test.each([
    ['a first round that takes longer than the timeout is followed by another look', [2000, 0], 2],
    ['rounds go on while each finds fewer objects', [5, 4, 3, 2, 1, 0], 6],
  ])('%s', async (_title, founds, rounds) => {
    expect(await clearing(founds, 100_000)).toEqual({ problems: [], rounds });
  });

  test('objects that come back in every round are problems after the timeout', async () => {
    const { problems, rounds } = await clearing([1], 1000);
    expect(problems).toEqual(['object 0 comes back']);
    expect(rounds).toBe(1 + patienceMs / 1500);
  });
});
