// Checks which known word is suggested for an unknown one.
import { expect, test } from 'vitest';
import { nearest } from '../../../src/base/nearest.ts';

const known = ['name', 'names', 'namespace'];

test.each([
  ['nam', 1, 'name'],
  ['namess', 1, 'names'],
  ['NAMES', 0, 'names'],
  ['nmae', 1, 'name'],
  ['nmea', 1, undefined],
  ['nmea', 2, 'name'],
  ['zzz', 3, undefined],
  ['', 3, undefined],
])('the suggestion for %j with at most %i changes is %s', (given, maxDistance, found) => {
  expect(nearest(given, known, maxDistance)).toBe(found);
});
