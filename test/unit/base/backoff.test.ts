// Checks that waits grow to a maximum, are spread, and are never shorter than the server requires.
import { expect, test } from 'vitest';
import { Backoff } from '../../../src/base/backoff.ts';

function waits(random: number, count: number, retryAfterMs?: number): readonly number[] {
  const backoff = new Backoff({ random: () => random });
  return Array.from({ length: count }, () => backoff.next(retryAfterMs));
}

test.for([
  ['the smallest random number', 0, undefined, [200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]],
  [
    'the largest random number',
    0.999_999,
    undefined,
    [400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000],
  ],
  ['a longer required wait', 0, 1000, [1000, 1000, 1000, 1600, 3200, 6400, 12_800, 15_000, 15_000]],
  ['a required wait of a day', 0, 86_400_000, Array.from({ length: 9 }, () => 300_000)],
] as const)('the waits grow to a maximum with %s', ([, random, asked, expected]) => {
  expect(waits(random, 9, asked).map(Math.round)).toEqual(expected);
});

test('the waits start again after a reset', () => {
  const backoff = new Backoff({ random: () => 0 });
  expect([backoff.next(), backoff.next(), (backoff.reset(), backoff.next())]).toEqual([200, 400, 200]);
});
