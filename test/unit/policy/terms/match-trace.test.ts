// Why a match does not hold: the term, what was found, what is accepted, and what comes nearest.
import { describe, expect, test } from 'vitest';
import type { MatchSpec } from '../../../../src/api/namespace-policy/namespace-policy.ts';
import { failingTerm } from '../../../../src/policy/terms/match-trace.ts';
import { aNamespace, aPolicy } from '../../../support/engine.ts';

function termOf(match: MatchSpec, name: string, labels: Readonly<Record<string, string>> = {}) {
  const compiled = aPolicy('p', { match }).match;
  const term = failingTerm({ path: 'spec.match', match }, compiled, aNamespace({ name, labels }));
  return term && [term.path, term.found, term.accepted, ...(term.near === undefined ? [] : [term.near])];
}

const many = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', ...values: readonly string[]) => ({
  namespaceSelector: {
    matchExpressions: [{ key: 'env', operator, ...(values.length > 0 ? { values } : {}) }],
  },
});
const selector = 'spec.match.namespaceSelector';

test('a name that is not listed is named with the list', () => {
  expect(termOf({ names: ['team-*', 'shop'] }, 'x')).toEqual([
    'spec.match.names',
    '"x"',
    '"team-*" or "shop"',
  ]);
});

test('a name that is not listed gets the nearest name, or the glob that begins almost like it', () => {
  expect(termOf({ names: ['shop', 'books'] }, 'shops')?.[3]).toBe('"shop"');
  expect(termOf({ names: ['shop', 'team-*'] }, 'taem-a')?.[3]).toBe('"team-*"');
  expect(termOf({ names: ['a', '*-prod'] }, 'shop-dev')?.[3]).toBeUndefined();
});

test('an excluded name is named with the glob that excludes it', () => {
  expect(termOf({ excludeNames: ['a', 'team-old-*'] }, 'team-old-1')).toEqual([
    'spec.match.excludeNames[1]',
    '"team-old-1"',
    'a name that "team-old-*" does not match',
  ]);
});

describe('a label', () => {
  test('a label with another value is shown with the accepted one', () => {
    expect(termOf({ namespaceSelector: { matchLabels: { pull: 'true' } } }, 'x', { pull: 'ture' })).toEqual([
      `${selector}.matchLabels.pull`,
      'label pull="ture"',
      '"true"',
    ]);
  });

  test('a label that is missing is named with the label that comes nearest', () => {
    expect(
      termOf({ namespaceSelector: { matchLabels: { 'a.example/team': 'red' } } }, 'x', {
        'a.example/taem': 'red',
      }),
    ).toEqual([
      `${selector}.matchLabels["a.example/team"]`,
      'no label a.example/team',
      '"red"',
      'label a.example/taem="red"',
    ]);
  });

  test.each([
    ['In', ['dev', 'prod'], { env: 'prd' }, 'label env="prd"', '"dev" or "prod"', '"prod"'],
    ['NotIn', ['dev'], { env: 'dev' }, 'label env="dev"', 'any value but "dev", or no such label'],
    ['Exists', [], {}, 'no label env', 'any value'],
    ['DoesNotExist', [], { env: '' }, 'label env=""', 'no such label'],
  ] as const)('a label that operator %s %j refuses is shown', (operator, values, labels, ...expected) => {
    expect(termOf(many(operator, ...values), 'x', labels)).toEqual([
      `${selector}.matchExpressions[0]`,
      ...expected,
    ]);
  });

  test('named like a member of every object counts as missing', () => {
    const term = termOf({ namespaceSelector: { matchLabels: { constructor: 'x' } } }, 'x');
    expect(term?.[1]).toBe('no label constructor');
  });
});

const matchConditions = [
  { name: 'broken', expression: "namespaceObject.metadata.labels['a'] == 'b'" },
  { name: 'not-x', expression: "namespaceObject.metadata.name != 'x'" },
];

test('a condition that is false is named, even if another one has an error', () => {
  expect(termOf({ matchConditions }, 'x')).toEqual([
    'spec.match.matchConditions[1]',
    'not-x is false',
    "a namespace for which namespaceObject.metadata.name != 'x' is true",
  ]);
});

test('a condition with an error alone is no failing term', () => {
  expect(termOf({ matchConditions }, 'y')).toBeUndefined();
});

test('the terms come in the order of the matcher: names, labels, conditions', () => {
  const match = {
    names: ['a'],
    namespaceSelector: { matchLabels: { b: 'c' } },
    matchConditions: [{ name: 'd', expression: 'false' }],
  };
  expect(termOf(match, 'x')?.[0]).toBe('spec.match.names');
  expect(termOf(match, 'a')?.[0]).toBe(`${selector}.matchLabels.b`);
  expect(termOf(match, 'a', { b: 'c' })?.[0]).toBe('spec.match.matchConditions[0]');
});
