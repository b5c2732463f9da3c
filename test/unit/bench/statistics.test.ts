// The numbers that the bench reports.
import { expect, test } from 'vitest';
import { median, medianRatio, quantile } from '../../bench/statistics.ts';

test.each([
  [[3, 1, 2], 0.5, 2],
  [[4, 3, 2, 1], 0.5, 3],
  [[5, 4, 3, 2, 1], 0.25, 2],
  [[5, 4, 3, 2, 1], 0.75, 4],
  [[10, 9, 100], 0.99, 100],
  [[7], 0.99, 7],
  [[1, 2], 1, 2],
  [[], 0.5, Number.NaN],
])('the values %j have at the quantile %d the value %d', (values, share, expected) => {
  expect(quantile(values, share)).toBe(expected);
});

test('values are sorted as numbers, and stay as they are', () => {
  const values = [10, 9, 1000];
  expect(median(values)).toBe(10);
  expect(values).toEqual([10, 9, 1000]);
});

test('one slow round counts no more than any other', () => {
  expect(medianRatio([2, 400, 2], [1, 2, 1])).toBe(2);
});

test('a round without its baseline gives no ratio', () => {
  expect(medianRatio([1], [])).toBeNaN();
});
