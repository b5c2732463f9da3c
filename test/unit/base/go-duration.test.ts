// Durations as the API server writes them in its timeout.
import { expect, test } from 'vitest';
import { parseGoDuration } from '../../../src/base/time.ts';

test.each([
  ['10s', 10_000],
  ['1m30s', 90_000],
  ['250ms', 250],
  ['1.5s', 1500],
  ['.5s', 500],
  ['1h', 3_600_000],
  ['500us', 0.5],
  ['500µs', 0.5],
  ['1000000ns', 1],
  ['+3s', 3000],
  ['0', 0],
  ['0s', 0],
])('%s', (text, milliseconds) => {
  expect(parseGoDuration(text)).toBeCloseTo(milliseconds, 6);
});

test.each([
  '',
  '10',
  's',
  '-1s',
  '+-1s',
  '1 s',
  ' 1s',
  '1s ',
  '1x',
  '1s1',
  '1e3s',
  '٣s',
  '1S',
  '.s',
  '1..s',
  '1s'.repeat(40),
])('refuses %j', (text) => {
  expect(parseGoDuration(text)).toBeUndefined();
});
