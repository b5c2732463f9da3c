// The warnings to authors of policies that set one key to different values.
import { describe, expect, test } from 'vitest';
import { compileMatch, canBothMatch, type CompiledMatch } from '../../../../src/policy/terms/match.ts';
import type { MatchSpec } from '../../../../src/api/namespace-policy/namespace-policy.ts';
import {
  aProviderReview,
  circumstances,
  knownNamespace,
  providerDecision,
  providerObject,
  snapshotOf,
  testInstall,
} from '../../../support/engine.ts';

const namespaces = ['red-a', 'red-b', 'blue'].map((name) => knownNamespace(name));
const spec = (tier: string, names: readonly string[] = ['*'], more: object = {}) => ({
  match: { names },
  namespaces: { defaults: { labels: { tier } } },
  ...more,
});

function warnings(
  name: string,
  after: object,
  others: Readonly<Record<string, unknown>>,
  before?: object,
): readonly string[] {
  const review = aProviderReview({
    resource: 'namespacepolicies',
    object: providerObject('NamespacePolicy', name, after),
    ...(before === undefined ? {} : { oldObject: providerObject('NamespacePolicy', name, before) }),
  });
  const { notices } = providerDecision(review, snapshotOf(others, namespaces), {
    ...circumstances,
    install: testInstall,
  });
  return notices.filter((notice) => notice.includes('its default'));
}

describe('the write of a policy with a default', () => {
  const losing = 'NamespacePolicy/b: its default of label tier is "2", and that of NamespacePolicy/a is "1"';

  test.for<readonly [string, readonly string[], Parameters<typeof warnings>]>([
    [
      'warns the author of the policy that comes second',
      [`${losing}; where both match, NamespacePolicy/a comes first: 2 namespaces (red-a, red-b)`],
      ['b', spec('2'), { a: spec('1', ['red-*']) }],
    ],
    [
      'warns the author of the policy that comes first',
      [
        'NamespacePolicy/a: its default of label tier is "1", and that of NamespacePolicy/b is "2"; where both match, NamespacePolicy/a comes first: 3 namespaces (blue, red-a, red-b)',
      ],
      ['a', spec('1'), { b: spec('2') }],
    ],
    [
      'warns where no namespace matches both now, and one can',
      [`${losing}; where both match, NamespacePolicy/a comes first`],
      ['b', spec('2', ['green-*']), { a: spec('1', ['green-x']) }],
    ],
    [
      'names the policies that come later together',
      [
        'NamespacePolicy/a: its default of label tier is "1", and that of NamespacePolicy/b, NamespacePolicy/c is another value; where both match, NamespacePolicy/a comes first: 1 namespace (blue)',
      ],
      ['a', spec('1', ['blue']), { b: spec('2'), c: spec('3') }],
    ],
    ['does not warn of the same value', [], ['b', spec('1'), { a: spec('1') }]],
    ['does not warn of other namespaces', [], ['b', spec('2', ['blue']), { a: spec('1', ['red-*']) }]],
    [
      'does not warn again of a difference that it leaves as it was',
      [],
      ['b', spec('2', ['*'], { maxDeletions: 3 }), { a: spec('1') }, spec('2')],
    ],
    [
      'warns again where it adds namespaces',
      [`${losing}; where both match, NamespacePolicy/a comes first: 3 namespaces (blue, red-a, red-b)`],
      ['b', spec('2'), { a: spec('1') }, spec('2', ['red-*'])],
    ],
    [
      'warns of defaults of Secrets',
      [
        'NamespacePolicy/b: its default of annotation team of Secrets is "2", and that of NamespacePolicy/a is "1"; where both match, NamespacePolicy/a comes first: 3 namespaces (blue, red-a, red-b)',
      ],
      [
        'b',
        { secrets: { defaults: { annotations: { team: '2' } } } },
        { a: { secrets: { defaults: { annotations: { team: '1' } } } } },
      ],
    ],
  ])('%s', ([, expected, args]) => {
    expect(warnings(...args)).toEqual(expected);
  });
});

const match = (text: MatchSpec): CompiledMatch => {
  const result = compileMatch(text);
  if (!result.ok) throw new Error('the match does not compile');
  return result.value;
};
const labels = (matchLabels: Readonly<Record<string, string>>) => ({ namespaceSelector: { matchLabels } });
const expressions = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', ...values: string[]) => ({
  namespaceSelector: { matchExpressions: [{ key: 'env', operator, ...(values.length > 0 && { values }) }] },
});

test.for<readonly [boolean, MatchSpec, MatchSpec]>([
  [true, {}, {}],
  [true, {}, { names: ['a'] }],
  [true, { names: ['a-*'] }, { names: ['*-b'] }],
  [true, { names: ['a-*'] }, { names: ['a-b'] }],
  [false, { names: ['a-*'] }, { names: ['b-*'] }],
  [false, { names: ['a', 'b'] }, { names: ['c', 'd-*'] }],
  [false, { names: ['a'], excludeNames: ['a'] }, {}],
  [false, { names: ['team-*'] }, { excludeNames: ['team-*'] }],
  [true, { names: ['team-*'] }, { excludeNames: ['team-old-*'] }],
  [true, labels({ env: 'dev' }), labels({ tier: 'a' })],
  [true, labels({ env: 'dev' }), expressions('In', 'dev', 'prod')],
  [false, labels({ env: 'dev' }), labels({ env: 'prod' })],
  [false, labels({ env: 'dev' }), expressions('NotIn', 'dev')],
  [false, labels({ env: 'dev' }), expressions('DoesNotExist')],
  [true, expressions('Exists'), expressions('NotIn', 'dev')],
  [false, expressions('Exists'), expressions('DoesNotExist')],
  [true, expressions('NotIn', 'dev'), expressions('DoesNotExist')],
])('two matches have a namespace in common or not: %s %j %j', ([expected, one, other]) => {
  expect(canBothMatch(match(one), match(other))).toBe(expected);
  expect(canBothMatch(match(other), match(one))).toBe(expected);
});
