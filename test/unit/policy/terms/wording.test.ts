// Tests the quotes and lists in a verdict.
import { expect, test } from 'vitest';
import { counted, listed, quoted, shownName } from '../../../../src/policy/terms/wording.ts';

test('a quote is short and cannot steer a terminal', () => {
  expect(quoted('a\u001b[31m\n\u202Eb')).toBe('"a\uFFFD[31m\uFFFD\uFFFDb"');
  expect(quoted('😀'.repeat(1000))).toBe(`"${'😀'.repeat(79)}…"`);
});

test.for([
  [[], ''],
  [['b', 'a'], 'a, b'],
  [['e', 'd', 'c', 'b', 'a'], 'a, b, c, d, e'],
  [['f', 'e', 'd', 'c', 'b', 'a'], 'a, b, c, d, e and 1 more'],
  [['x'.repeat(200), 'y'], `${'x'.repeat(200)} and 1 more`],
  [['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(63)], `${'a'.repeat(63)}, ${'b'.repeat(63)} and 1 more`],
] as const)('%j', ([names, text]) => {
  expect(listed(names)).toBe(text);
});

test.for([
  [0, '0 objects'],
  [1, '1 object'],
  [2, '2 objects'],
] as const)('%d: %s', ([count, text]) => {
  expect(counted(count, 'object')).toBe(text);
});

test('a policy is named after its kind, and a binding by its id', () => {
  expect(shownName('apps')).toBe('policy apps');
  expect(shownName('registry', 'share')).toBe('share registry');
  expect(shownName('SecurityIntentBinding/shop/web')).toBe('SecurityIntentBinding shop/web');
});
