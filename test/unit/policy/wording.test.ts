import { expect, test } from 'vitest';
import { alternatives, quoted } from '../../../src/policy/wording.ts';

test.for([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a or b'],
  [['a', 'b', 'c'], 'a, b or c'],
  [Array.from({ length: 12 }, (_, i) => String(i)), '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or 2 more'],
] as const)('%j reads %s', ([values, text]) => {
  expect(alternatives(values)).toBe(text);
});

test('what is quoted is short and cannot steer a terminal', () => {
  expect(quoted('a\u001b[31m\n\u202Eb')).toBe('"a[31mb"');
  expect(quoted('😀'.repeat(1000))).toBe(`"${'😀'.repeat(79)}…"`);
});
