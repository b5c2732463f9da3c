// Checks the formats of durations and dates.
import { describe, expect, it, test } from 'vitest';
import { isDateTime, parseDuration, parseGoDuration } from '../../../src/base/time.ts';

describe('parseDuration', () => {
  it.each([
    ['168h', 604_800_000],
    ['30m', 1_800_000],
    ['1h30m', 5_400_000],
    ['1h1m1s', 3_661_000],
    ['90s', 90_000],
    ['0s', 0],
    ['', undefined],
    ['7d', undefined],
    ['30m1h', undefined],
    ['1.5h', undefined],
    ['-1h', undefined],
    ['1 h', undefined],
    ['h', undefined],
    ['12345678h', undefined],
  ])('%j is %s milliseconds', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });
});

test.each([
  ['2027-01-31T00:00:00Z', true],
  ['2027-01-31T23:59:59.123456789Z', true],
  ['2027-01-31T00:00:00+01:00', true],
  ['2028-02-29T00:00:00Z', true],
  ['2027-02-29T00:00:00Z', false],
  ['2027-13-01T00:00:00Z', false],
  ['2027-00-01T00:00:00Z', false],
  ['2027-01-00T00:00:00Z', false],
  ['2027-01-31T24:00:00Z', false],
  ['2027-01-31T00:00:60Z', false],
  ['2027-01-31t00:00:00z', false],
  ['2027-01-31T00:00:00', false],
  ['2027-01-31', false],
  ['tomorrow', false],
])('%s is a date and time: %s', (text, valid) => {
  expect(isDateTime(text)).toBe(valid);
  expect(valid && Number.isNaN(Date.parse(text))).toBe(false);
});

describe('parseGoDuration', () => {
  it.each([
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
  ])('%s is %d milliseconds', (text, milliseconds) => {
    expect(parseGoDuration(text)).toBeCloseTo(milliseconds, 6);
  });

  it.each([
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
  ])('%j is refused', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });
});
