import { expect, test } from 'vitest';
import { isNewer } from '../../../../src/reconcile/live/resource-version.ts';

test.each([
  ['2', '1', true],
  ['1', '2', false],
  ['1', '1', false],
  ['10', '9', true],
  ['9', '10', false],
  ['18446744073709551616', '18446744073709551615', true],
  ['99999999999999999998', '99999999999999999999', false],
  ['0010', '9', true],
  // Nothing is known of these but that they differ.
  ['abc', 'abd', true],
  ['abc', 'abc', false],
  ['5', '', true],
])('%s is newer than %s: %s', (version, than, expected) => {
  expect(isNewer(version, than)).toBe(expected);
});
