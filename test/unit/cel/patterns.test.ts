import { expect, test } from 'vitest';
import { compileGlob } from '../../../src/cel/regex.ts';

test.for([
  ['team-a', 'team-a', true],
  ['team-a', 'team-ab', false],
  ['team-*', 'team-', true],
  ['team-*', 'team-a-b', true],
  ['team-*', 'my-team-a', false],
  ['*-prod', 'a-prod', true],
  ['*-prod', 'a-prod-b', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['a*a', 'a', false],
  ['*', '', true],
  ['**', 'anything', true],
  ['a?c', 'abc', false],
  ['a.c', 'abc', false],
  ['[ab]', 'a', false],
] as const)('%s matches %s: %s', ([glob, text, matches]) => {
  expect(compileGlob(glob).matches(text)).toBe(matches);
});

test.for([
  ['team-a', 'team-a', true],
  ['team-*', 'team-', false],
  ['*', '', false],
] as const)('%s begins with "%s"', ([glob, prefix, exact]) => {
  expect(compileGlob(glob)).toMatchObject({ source: glob, prefix, exact });
});

test('many wildcards on a long text cost no more than their product', () => {
  const glob = compileGlob(`${'a*'.repeat(30)}b`);
  expect(glob.matches('a'.repeat(100_000))).toBe(false);
});
