import { expect, test } from 'vitest';
import { isNewerResourceVersion } from '../../../src/base/watch-sink.ts';

test.each([
  ['2', '1', true],
  ['1', '2', false],
  ['1', '1', false],
  ['10', '9', true],
  ['9', '10', false],
  ['18446744073709551616', '18446744073709551615', true],
  ['99999999999999999998', '99999999999999999999', false],
  ['0010', '9', true],
  // Versions that are not numbers: only equality is known.
  ['abc', 'abd', true],
  ['abc', 'abc', false],
  ['5', '', true],
])('"%s is newer than %s" is %s', (version, than, expected) => {
  expect(isNewerResourceVersion(version, than)).toBe(expected);
});

test.each([
  ['abc', 'abd', false],
  ['5', '', false],
  ['abc', 'abc', false],
  ['2', '1', true],
])('where incomparable versions are not newer, "%s is newer than %s" is %s', (version, than, expected) => {
  expect(isNewerResourceVersion(version, than, { ifIncomparable: false })).toBe(expected);
});
