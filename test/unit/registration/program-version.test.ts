// Which version of the program is newer.
import { expect, it } from 'vitest';
import { isNewerProgram } from '../../../src/registration/configuration-keeper.ts';

it.each<readonly [string | undefined, string, boolean]>([
  ['0.1.0', '0.1.0', false],
  ['0.1.1', '0.1.0', true],
  ['0.1.0', '0.1.1', false],
  ['0.10.0', '0.9.0', true],
  ['1.0.0', '0.99.99', true],
  ['0.99.99', '1.0.0', false],
  ['0.2.0-rc.1', '0.1.0', true],
  ['0.1.0-rc.1', '0.1.0', false],
  ['0.1.0', '0.1.0-rc.1', true],
  ['0.1.0-rc.10', '0.1.0-rc.9', true],
  ['0.1.0-rc.1', '0.1.0-rc', true],
  ['0.1.0-rc', '0.1.0-beta', true],
  ['0.1.0-rc', '0.1.0-1', true],
  ['0.1.0-rc.1', '0.1.0-rc.1', false],
  ['0.1.0+build', '0.1.0', false],
  // No release of Reeve writes an invalid version.
  [undefined, '0.1.0', false],
  ['', '0.1.0', false],
  ['latest', '0.1.0', false],
  ['1.0', '0.1.0', false],
  ['v1.0.0', '0.1.0', false],
  ['1.0.0 ', '0.1.0', false],
  ['99999999999999999999.0.0', '0.1.0', false],
  ['0.1.0', 'no version', true],
])('with version %s on the cluster, version %s steps back: %s', (annotation, ours, expected) => {
  expect(isNewerProgram(annotation, ours)).toBe(expected);
});
