import { expect, test } from 'vitest';
import type { Violation } from '../../../../src/policy/terms/review.ts';
import { Violators } from '../../../../src/reconcile/audit/object-audit.ts';

const violation: Violation = {
  policy: 'p',
  rule: 'rbac.allowedRoleRefs',
  path: 'x',
  found: 'y',
  accepted: 'z',
};
const keyOf = (index: number): string => `team-a/b${String(index).padStart(2, '0')}`;

test('all violations are counted, and only the first twenty objects are kept in words', () => {
  const violators = new Violators();
  for (let index = 49; index >= 0; index -= 1) violators.set(keyOf(index), [violation, violation]);
  expect(violators.total).toBe(100);
  expect(violators.first().map(([key]) => key)).toEqual(
    Array.from({ length: 20 }, (_, index) => keyOf(index)),
  );
});

test('an object that is corrected is forgotten, and the list is full again after the next sweep', () => {
  const violators = new Violators();
  for (let index = 0; index < 30; index += 1) violators.set(keyOf(index), [violation]);
  expect(violators.set(keyOf(3), [])).toBe(true);
  expect([violators.total, violators.isFull, violators.first().length]).toEqual([29, false, 19]);
  for (let index = 0; index < 30; index += 1) violators.set(keyOf(index), index === 3 ? [] : [violation]);
  expect([violators.total, violators.isFull]).toEqual([29, true]);
  expect(violators.first().at(-1)?.[0]).toBe(keyOf(20));
});

test('the same violations again are no change', () => {
  const violators = new Violators();
  expect(violators.set('a/b', [violation])).toBe(true);
  expect(violators.set('a/b', [{ ...violation }])).toBe(false);
  expect(violators.set('a/b', [{ ...violation, found: 'other' }])).toBe(true);
  expect(violators.delete('a/c')).toBe(false);
});
