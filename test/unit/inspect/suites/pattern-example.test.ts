// A short text that matches a pattern is found for the patterns that people write.
import { expect, test } from 'vitest';
import { textMatching } from '../../../../src/inspect/suites/example-namespaces.ts';

test.for<[pattern: string, expected: string | undefined]>([
  ['^team-[a-z0-9]+(-[a-z0-9]+)+$', 'team-a-a'],
  ['^[0-9]{4}$', '0000'],
  ['^[^@ ]+@example\\.com$', 'a@example.com'],
  ['^(?:a|b)?c$', 'c'],
  ['^(?P<stage>dev|prod)-[bc]$', 'dev-b'],
  ['^\\d+\\.\\w$', '0.a'],
  ['^x{2,3}?y*$', 'xx'],
  ['^[[:digit:]]\\pL[]x]$', '0a]'],
  ['^[^a0]$', 'A'],
  ['(?i)^X$', 'X'],
  ['^(x(?i)a)*b$', 'b'],
  ['', ''],
  ['^a{1000}b$', `${'a'.repeat(1000)}b`],
  ['^(a', undefined],
  ['^a\\bb$', undefined],
])('%s: %s', ([pattern, expected]) => {
  expect(textMatching(pattern)).toBe(expected);
});

test('the characters that are preferred are used where they match', () => {
  expect(textMatching('^[a-z]+-[0-9]+$', 'b1')).toBe('b-1');
});
