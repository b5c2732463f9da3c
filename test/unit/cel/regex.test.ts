// Tests that regular expressions follow RE2 and take linear time.
import { expect, test } from 'vitest';
import { compileRegex, type Regex } from '../../../src/cel/regex.ts';

function regex(source: string): Regex {
  const compiled = compileRegex(source);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.regex;
}

test.each([
  ['b', 'abc', true],
  ['^b', 'abc', false],
  ['^team-[a-z0-9-]+$', 'team-blue', true],
  ['(?i)ABC', 'abc', true],
  ['a.b', 'a\nb', false],
  ['^.$', '🎉', true],
  ['$', '', true],
])('%s matches %j: %j', (source, text, found) => {
  expect(regex(source).search(text)).toBe(found);
});

test.each(['[', '(', 'a**', '(?=a)', '(?<!a)b', '(a)\\1', 'x{1001}', '\\', 'a'.repeat(5000)])(
  'the pattern %j is refused without being repeated',
  (source) => {
    const compiled = compileRegex(source);
    expect(compiled.ok).toBe(false);
    expect(compiled).not.toMatchObject({ problem: expect.stringContaining(source) as string });
  },
);

test.each([
  ['(?!x)a', 'lookahead (?! is not supported (RE2 syntax)'],
  ['a(?<=b)', 'lookbehind (?<= is not supported (RE2 syntax)'],
  ['(?>a)', 'atomic group (?> is not supported (RE2 syntax)'],
  ['(a)\\1', String.raw`backreference \1 is not supported (RE2 syntax)`],
  ['(a', 'RE2 syntax: missing closing )'],
  ['a++', 'RE2 syntax: invalid nested repetition operator'],
  ['a'.repeat(5000), 'the pattern is longer than 4096 characters'],
])('the problem of the pattern %j is: %s', (source, problem) => {
  expect(compileRegex(source)).toEqual({ ok: false, problem });
});

test.each([
  ['[0-9]+', 'a1b22', Infinity, ['1', '22']],
  ['[0-9]+', 'a1b22', 1, ['1']],
  ['a*', 'baaac', Infinity, ['', 'aaa', '']],
  ['x', 'abc', Infinity, []],
])('%s finds in %j at most %d: %j', (source, text, limit, found) => {
  expect(regex(source).findAll(text, limit)).toEqual(found);
  expect(regex(source).find(text)).toBe(found[0] ?? '');
});

// A backtracking matcher would try exponentially many ways on these and never end.
test.each(['^(a+)+$', '^(a|aa)+$', '(a*)*b', '^(a?){50}a{50}$', '^(\\w+\\s?)*$'])(
  '%s gives up on 100,000 characters',
  (source) => {
    const text = `${'a'.repeat(100_000)}!`;
    expect(regex(source).search(text)).toBe(false);
    expect(regex(source).findAll(text, Infinity)).toEqual([]);
  },
);
