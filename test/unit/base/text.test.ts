// Checks how values of users look in our messages.
import { describe, expect, it, test } from 'vitest';
import { alternatives, clipped, counted, describeValue, listed, quoted } from '../../../src/base/text.ts';

describe('clipped', () => {
  it.each([
    ['short text unchanged', 'abc', 'abc'],
    ['80 characters unchanged', 'a'.repeat(80), 'a'.repeat(80)],
    ['81 characters as 80', 'a'.repeat(81), `${'a'.repeat(79)}…`],
    ['a megabyte as 80 characters', 'b'.repeat(1_000_000), `${'b'.repeat(79)}…`],
    ['a wide character as one', '😀'.repeat(81), `${'😀'.repeat(79)}…`],
    ['several lines as one', 'a\r\nb\u2028c\u2029d', 'a\uFFFD\uFFFDb\uFFFDc\uFFFDd'],
    ['no terminal escapes', 'a\u001b[31mb\u0007', 'a\uFFFD[31mb\uFFFD'],
    ['no changes of the writing direction', 'a\u202eb\u2066c', 'a\uFFFDb\uFFFDc'],
    ['no half characters', 'a\ud800b', 'a\uFFFDb'],
  ])('a message shows %s', (_title, given, shown) => {
    expect(clipped(given)).toBe(shown);
  });
});

test.each([
  [[], undefined, ''],
  [['a'], undefined, 'a'],
  [['a', 'b'], undefined, 'a or b'],
  [['a', 'b', 'c'], undefined, 'a, b or c'],
  [['a', 'b', 'c'], 2, 'a, b or 1 more'],
  [Array.from('abcdefghijkl'), undefined, 'a, b, c, d, e, f, g, h, i, j or 2 more'],
])('%j has its text when at most %s are shown', (words, shown, text) => {
  expect(alternatives(words, shown)).toBe(text);
});

describe('describeValue', () => {
  it.each<readonly [unknown, string]>([
    [undefined, 'nothing'],
    [null, 'nothing'],
    ['', 'empty text'],
    ['a', '"a"'],
    [5, '5'],
    [-0.5, '-0.5'],
    [true, 'true'],
    [[], 'an empty list'],
    [[1, 2], 'a list of 2'],
    [{}, 'an empty object'],
    [{ a: 1 }, 'an object'],
    [5n, 'something that JSON cannot hold'],
    [Symbol('a'), 'something that JSON cannot hold'],
  ])('%o is described as %s', (value, words) => {
    expect(describeValue(value)).toBe(words);
  });
});

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
