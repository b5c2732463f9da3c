// Regular expressions on names of namespaces, and the globs that match the same names.
import { array, assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { namePattern, type Anchoring } from '../../../src/importers/name-patterns.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { compileGlob } from '../../../src/cel/regex.ts';

const globs: readonly (readonly [text: string, anchoring: Anchoring, globs: string])[] = [
  ['shop', 'whole', 'shop'],
  ['web-.*', 'whole', 'web-*'],
  ['.*', 'whole', '*'],
  ['^web-[a-z0-9-]*$', 'whole', 'web-*'],
  ['.*-prod', 'strict', '*-prod'],
  ['team\\-a', 'strict', 'team-a'],
  ['shop', 'start', 'shop*'],
  ['shop$', 'start', 'shop'],
  ['web-*', 'start', 'web*'],
  ['web[0-9]*', 'start', 'web*'],
  ['.*', 'start', '*'],
  ['(a|b)-.*', 'whole', 'a-* b-*'],
  ['(a|b)-.*', 'strict', 'a-* b-*'],
  ['^(x-.*)$', 'whole', 'x-*'],
  ['^(x-.*)$', 'strict', 'x-*'],
  ['x-.+', 'whole', 'x-*'],
  ['x-[a-z0-9-]+', 'strict', 'x-*'],
  ['.+-x', 'strict', '*-x'],
  ['.+', 'whole', '*'],
  ['^(?:dev|test)(-.*)?$', 'whole', 'dev-* dev test-* test'],
  ['^(team|team-a)$', 'whole', 'team team-a'],
  ['a|b', 'strict', 'a* *b'],
  ['(a|b)', 'start', 'a* b*'],
  ['we?b', 'start', 'web* wb*'],
];

test.each(globs)('%s compared as %s matches the names of the globs %s', (text, anchoring, expected) => {
  expect(namePattern(text, anchoring)).toEqual({ kind: 'globs', globs: expected.split(' ') });
});

const noGlobs: readonly (readonly [text: string, anchoring: Anchoring])[] = [
  ['web-[0-9]*', 'whole'],
  ['web-*', 'whole'],
  ['web.', 'whole'],
  ['web+', 'strict'],
  ['web.+', 'strict'],
  ['a-.+-b', 'strict'],
  ['(a|b.*)-c|d', 'whole'],
  ['(a|b|c)(a|b|c)(a|b|c)', 'strict'],
  ['', 'whole'],
];

test.each(noGlobs)('%s compared as %s has no globs', (text, anchoring) => {
  expect(namePattern(text, anchoring).kind).toBe('regex');
});

test('an expression that RE2 does not know is invalid, with the reason', () => {
  expect(namePattern('(?!a)b', 'whole')).toEqual({
    kind: 'invalid',
    why: 'lookahead (?! is not supported (RE2 syntax)',
  });
});

test('a count without a lower bound, which Python reads and RE2 takes literally, is invalid', () => {
  expect(namePattern('a{,3}', 'start').kind).toBe('invalid');
  expect(namePattern('a{,3}', 'strict').kind).toBe('regex');
});

test('an alternative that ends early makes the whole name fail, as in .NET', () => {
  const pattern = namePattern('team|team-a', 'whole');
  expect(pattern).toMatchObject({ kind: 'regex', source: undefined });
  expect(pattern.kind === 'regex' && pattern.matches('team-a')).toBe(false);
});

describe('for any expression of the kind that people write', () => {
  const atom = constantFrom(
    'a',
    'b',
    '-',
    '.*',
    '[0-9]',
    '[a-z0-9-]*',
    'a*',
    'b+',
    '.',
    '^',
    '$',
    '|',
    '\\-',
    '(a|b)',
    '(?:a-.*|b)',
    '(-a)?',
    'b?',
    '.+',
  );
  // A name neither begins nor ends with a hyphen.
  const name = string({ unit: constantFrom('a', 'b', '-', '0'), minLength: 1, maxLength: 8 }).filter(
    (text) => !text.startsWith('-') && !text.endsWith('-'),
  );
  const meanings: Readonly<Record<Anchoring, (text: string, subject: string) => boolean>> = {
    whole: (text, subject) => new RegExp(text).exec(subject)?.[0].length === subject.length,
    strict: (text, subject) =>
      new RegExp(`${text.startsWith('^') ? '' : '^'}${text}${text.endsWith('$') ? '' : '$'}`).test(subject),
    start: (text, subject) => new RegExp(`^(?:${text})`).test(subject),
  };

  test.each(['whole', 'strict', 'start'] as const)(
    'compared as %s, the result matches the same names',
    (anchoring) => {
      assert(
        property(array(atom, { minLength: 1, maxLength: 4 }), name, (atoms, subject) => {
          const text = atoms.join('');
          const pattern = namePattern(text, anchoring);
          if (pattern.kind === 'invalid') return;
          const found =
            pattern.kind === 'globs'
              ? pattern.globs.some((glob) => compileGlob(glob).matches(subject))
              : pattern.matches(subject);
          expect(found).toBe(meanings[anchoring](text, subject));
        }),
        { numRuns: propertyRuns(300) },
      );
    },
  );
});
