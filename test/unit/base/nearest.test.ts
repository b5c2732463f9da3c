// Which known word is taken for the one that was meant.
import { expect, test } from 'vitest';
import { nearest } from '../../../src/base/nearest.ts';

const known = ['name', 'names', 'namespace'];

test.each([
  ['nam', 1, 'name'],
  ['namess', 1, 'names'],
  ['NAMES', 0, 'names'],
  ['nmae', 1, undefined],
  ['nmae', 2, 'name'],
  ['zzz', 3, undefined],
  ['', 3, undefined],
])('%j, at most %i changes away: %s', (given, farthest, found) => {
  expect(nearest(given, known, farthest)).toBe(found);
});
