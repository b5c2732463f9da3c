// Coverage names each rule that no test refuses, allows or reaches.
import { expect, test } from 'vitest';
import { Coverage } from '../../../../src/inspect/suites/run-suites.ts';
import type { RuleOutcome } from '../../../../src/policy/terms/review.ts';
import type { Operation } from '../../../../src/rules/rule.ts';
import { aPolicy } from '../../../support/engine.ts';

const policy = aPolicy('p', {
  namespaces: {
    name: { pattern: 'a' },
    required: { labels: { a: {} } },
    defaults: { labels: { b: 'c' } },
    immutable: { labels: ['a'] },
  },
});
const violation = { path: 'metadata', found: 'a', accepted: 'b' };

type Traced = Partial<RuleOutcome> & { readonly by?: Operation };

function gapsAfter(outcomes: readonly Traced[]) {
  const coverage = new Coverage();
  coverage.add(policy);
  for (const { by, ...outcome } of outcomes) {
    const whole = {
      policy: 'p',
      rule: 'namespaces.name',
      kind: 'judged',
      fresh: [],
      old: [],
      actions: [],
    } as const;
    coverage.trace(by)({ ...whole, ...outcome });
  }
  return coverage.gaps().map(({ rule, gap }) => `${rule} ${gap}`);
}

const never = ['namespaces.name', 'namespaces.required', 'namespaces.defaults', 'namespaces.immutable'];

test('without a test, no rule is evaluated', () => {
  expect(gapsAfter([])).toEqual(never.map((rule) => `${rule} never evaluated`));
});

test.for<[title: string, outcomes: readonly Traced[], expected: string | undefined]>([
  ['a rule that only holds was never refused', [{}], 'namespaces.name never refused'],
  [
    'a rule that is only violated was never allowed',
    [{ fresh: [violation] }],
    'namespaces.name never allowed',
  ],
  ['a rule that holds once and is violated once is covered', [{}, { fresh: [violation] }], undefined],
  ['an old violation shows nothing', [{ old: [violation] }], 'namespaces.name never evaluated'],
  ['an exception shows nothing', [{ kind: 'excepted' }], 'namespaces.name never evaluated'],
  ['a rule that is not asked shows nothing', [{ kind: 'unasked' }], 'namespaces.name never evaluated'],
  ['defaults that hold need no refusal', [{ rule: 'namespaces.defaults' }], undefined],
  [
    'a rule about updates is not allowed by the creation of an object',
    [{ rule: 'namespaces.immutable', by: 'CREATE' }],
    'namespaces.immutable never evaluated',
  ],
  [
    'a rule about updates is allowed by an update',
    [{ rule: 'namespaces.immutable', by: 'UPDATE' }],
    'namespaces.immutable never refused',
  ],
  ['a rule of another policy is not counted', [{ policy: 'q' }], 'namespaces.name never evaluated'],
])('%s', ([, outcomes, expected]) => {
  const rule = expected?.split(' ')[0] ?? outcomes[0]?.rule ?? 'namespaces.name';
  expect(gapsAfter(outcomes).filter((gap) => gap.startsWith(rule))).toEqual(
    expected === undefined ? [] : [expected],
  );
});
