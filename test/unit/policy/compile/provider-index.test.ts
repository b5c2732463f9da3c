import { compileSelector } from '../../../../src/schema/selector.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../../../src/cel/regex.ts';
import { matchNamespace, type CompiledMatch } from '../../../../src/policy/terms/match.ts';
import { ProviderIndex } from '../../../../src/policy/compile/snapshot.ts';

type Selector = Parameters<typeof compileSelector>[0];

function policy(
  name: string,
  names?: readonly string[],
  selector?: Selector,
  excludeNames: readonly string[] = [],
) {
  const match: CompiledMatch = {
    names: names?.map(compileGlob),
    selector: selector === undefined ? undefined : compileSelector(selector),
    excludeNames: excludeNames.map(compileGlob),
    conditions: [],
  };
  return { name, match };
}

function namespace(name: string, labels: Readonly<Record<string, string>> = {}) {
  return { metadata: { name, labels } };
}

describe('the index tries only policies that can match', () => {
  const index = new ProviderIndex([
    policy('exact', ['a', 'b']),
    policy('prefix', ['team-*', 'squad-*']),
    policy('pair', undefined, { matchLabels: { tier: 'team' } }),
    policy('values', undefined, {
      matchExpressions: [{ key: 'env', operator: 'In', values: ['dev', 'test'] }],
    }),
    policy('key', undefined, { matchExpressions: [{ key: 'owner', operator: 'Exists' }] }),
    policy('suffix', ['*-prod']),
    policy('all'),
  ]);

  test.for([
    [[namespace('x')], ['suffix', 'all']],
    [[namespace('a')], ['exact', 'suffix', 'all']],
    [[namespace('team-x')], ['prefix', 'suffix', 'all']],
    [[namespace('x', { tier: 'team', env: 'test' })], ['pair', 'values', 'suffix', 'all']],
    [[namespace('x', { tier: 'other', owner: '' })], ['key', 'suffix', 'all']],
    [
      [namespace('a'), namespace('team-x')],
      ['exact', 'prefix', 'suffix', 'all'],
    ],
  ] as const)('%j', ([objects, names]) => {
    expect(index.candidates(objects).map(({ name }) => name)).toEqual(names);
  });
});

test('a namespace is compared with one of 1000 policies that each select another label', () => {
  const many = Array.from({ length: 1000 }, (_, i) =>
    policy(`p${i}`, undefined, { matchLabels: { tenant: `t${i}` } }),
  );
  const index = new ProviderIndex(many);
  expect(index.candidates([namespace('x', { tenant: 't7' })])).toEqual([many[7]]);
});

test('the index never misses a policy that matches', () => {
  const word = fc.constantFrom('a', 'b', 'team-a', 'team-b', 'x');
  const glob = fc.constantFrom('a', 'team-*', '*', '*-a', 'te*m-b', 'x*');
  const requirement = fc.oneof(
    fc.record({
      key: word,
      operator: fc.constantFrom('In' as const, 'NotIn' as const),
      values: fc.array(word, { minLength: 1 }),
    }),
    fc.record({ key: word, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
  );
  const selector = fc.record({
    matchLabels: fc.dictionary(word, word),
    matchExpressions: fc.array(requirement, { maxLength: 2 }),
  });
  const policies = fc.array(
    fc.tuple(fc.option(fc.array(glob), { nil: undefined }), fc.option(selector, { nil: undefined })),
  );
  fc.assert(
    fc.property(policies, word, fc.dictionary(word, word), (specs, name, labels) => {
      const all = specs.map(([names, matching], i) => policy(`p${i}`, names, matching));
      const object = namespace(name, labels);
      const candidates = new ProviderIndex(all).candidates([object]);
      const matching = all.filter(({ match }) => matchNamespace(match, object).kind === 'yes');
      expect(candidates).toEqual(expect.arrayContaining(matching));
    }),
  );
});
