// How expectations change so that they are the answers of today.
import { expect, test } from 'vitest';
import { mismatchesOf, type Outcome } from '../../../../src/inspect/suites/outcome.ts';
import type { Expectations } from '../../../../src/inspect/suites/suite.ts';
import { updatesOf } from '../../../../src/inspect/suites/update-suites.ts';

const outcome: Outcome = {
  verdict: 'allowed',
  message: '',
  warnings: [],
  rules: [],
  object: undefined,
  provided: { objects: [], blocked: [] },
  violations: undefined,
};
const update = (expected: Expectations) =>
  updatesOf(expected, mismatchesOf(expected, outcome), outcome).map(({ path, value }) => [
    path.join('.'),
    value,
  ]);

test('the later one of two removed items of a list is removed first', () => {
  expect(update({ contents: ['Role/a', 'Role/b'] })).toEqual([
    ['expect.contents.1', undefined],
    ['expect.contents.0', undefined],
  ]);
});

test('a test whose only expectation is removed expects the verdict, and one with a verdict keeps it', () => {
  expect(update({ message: 'x' })).toEqual([
    ['expect.verdict', 'allowed'],
    ['expect.message', undefined],
  ]);
  expect(update({ verdict: 'allowed', message: 'x' })).toEqual([['expect.message', undefined]]);
});
