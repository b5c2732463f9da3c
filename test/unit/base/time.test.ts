// Durations and times as policies write them.
import { describe, expect, it } from 'vitest';
import { isDateTime, parseDuration } from '../../../src/base/time.ts';

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
  ])('%s', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });
});

describe('isDateTime', () => {
  it.each([
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
  ])('%s', (text, valid) => {
    expect(isDateTime(text)).toBe(valid);
    expect(valid && Number.isNaN(Date.parse(text))).toBe(false);
  });
});
