// The one label selector of a binding: from CEL, from labels, and from both together.
import type { LabelSelector } from '../../../../src/schema/selector.ts';
import { describe, expect, test } from 'vitest';
import { workloadSelector, type WorkloadsSpec } from '../../../../src/api/intents/workloads.ts';
import { renderProblem } from '../../../../src/base/problem.ts';

function selectorOf(given: WorkloadsSpec): LabelSelector | undefined | readonly string[] {
  const outcome = workloadSelector(given);
  return outcome.ok ? outcome.selector : outcome.problems.map(renderProblem);
}

const expression = (key: string, operator: string, ...values: readonly string[]): LabelSelector =>
  ({ matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }] }) as LabelSelector;
const a = { matchLabels: { a: 'x' } };

describe('CEL that becomes a selector', () => {
  test.each<readonly [string, LabelSelector]>([
    ['labels["a"] == "x"', a],
    ["labels.a == 'x'", a],
    ['"x" == labels.a', a],
    ['labels["app.kubernetes.io/name"] == "x"', { matchLabels: { 'app.kubernetes.io/name': 'x' } }],
    ['labels.a == ""', { matchLabels: { a: '' } }],
    ['labels.a != "x"', expression('a', 'NotIn', 'x')],
    ['!(labels.a == "x")', expression('a', 'NotIn', 'x')],
    ['!(labels.a != "x")', a],
    ['!!(labels.a == "x")', a],
    ['!!!(labels.a == "x")', expression('a', 'NotIn', 'x')],
    ['labels.a in ["y", "x", "y"]', expression('a', 'In', 'x', 'y')],
    ['labels.a in ["x"]', a],
    ['!(labels.a in ["x", "y"])', expression('a', 'NotIn', 'x', 'y')],
    ['has(labels.a)', expression('a', 'Exists')],
    ['!has(labels.a)', expression('a', 'DoesNotExist')],
    ['"a.b/c" in labels', expression('a.b/c', 'Exists')],
    ['!("a" in labels)', expression('a', 'DoesNotExist')],
    ['labels.b == "y" && (labels.a == "x")', { matchLabels: { a: 'x', b: 'y' } }],
    ['!(labels.a == "x" || labels.a == "y")', expression('a', 'NotIn', 'x', 'y')],
    ['!(!has(labels.a) || labels.b != "y")', { matchLabels: { b: 'y' }, ...expression('a', 'Exists') }],
    ['labels.a in ["x", "y"] && labels.a != "y"', a],
    ['labels.a == "x" && has(labels.a)', a],
    ['!has(labels.a) && labels.a != "x"', expression('a', 'DoesNotExist')],
    ['labels["a"] == "x" // only the shop', a],
  ])('%s means the same as the selector', (cel, selector) => {
    expect(selectorOf({ cel: [cel] })).toEqual(selector);
  });
});

describe('CEL that a label selector cannot express', () => {
  const tooMuch = (what: string): string =>
    `a label selector cannot express ${what} and a NetworkPolicy could not keep it for Pods that are created later`;
  const wrong = 'accepted: a condition on labels with ==, !=, in, has(), && and !';

  test.each([
    ['labels.a.startsWith("x")', tooMuch('startsWith()')],
    ['labels.a.endsWith("x")', tooMuch('endsWith()')],
    ['!labels.a.contains("x")', tooMuch('contains()')],
    ['labels["a"].matches(".*x.*")', tooMuch('matches()')],
    ['size(labels.a) > 3', tooMuch('>')],
    ['labels.a == "x" || labels.b == "y"', tooMuch('||')],
    ['!(labels.a == "x" && labels.b == "y")', tooMuch('&& behind !, which means "or",')],
    ['has(labels.a) ? true : false', tooMuch('?:')],
    ['object.a == "x"', 'found a comparison of something other than a label; '],
    ['labels.a.b == "x"', 'found a comparison of something other than a label; '],
    ['labels == "x"', 'found a comparison of something other than a label; '],
    ['labels.?a == "x"', 'found a comparison of something other than a label; '],
    ['labels[?"a"] == "x"', 'found a comparison of something other than a label; '],
    ['labels[key] == "x"', 'found a comparison of something other than a label; '],
    ['labels.a == labels.b', 'found a comparison of a label with something other than a text in quotes; '],
    ['labels.a == 1', 'found a comparison of a label with something other than a text in quotes; '],
    ['labels.a == null', 'found a comparison of a label with something other than a text in quotes; '],
    ['labels.a in []', 'found a list that is empty or has items other than texts in quotes; '],
    ['labels.a in ["x", 1]', 'found a list that is empty or has items other than texts in quotes; '],
    ['labels.a in labels', 'found in without a label before it and a list behind it; '],
    ['"a" in ["a"]', 'found in without a label before it and a list behind it; '],
    ['labels.all(key, true)', `found all(); ${wrong}`],
    ['labels', `found the variable labels; ${wrong}`],
    ['app', `found the variable app; ${wrong}`],
    ['labels.a', `found an expression that is not a condition on one label; ${wrong}`],
    ['true', `found a constant; ${wrong}`],
    // So Nimbus writes negations.
    ['\'!labels["app"].contains("nginx")\'', `found a text in quotes; ${wrong}`],
    ['has(labels["a"])', 'found has() takes a field: has(a.b); '],
    ['labels.a =', 'found a character that CEL does not know; '],
    ['has(request.a)', `found an expression that is not a condition on one label; ${wrong}`],
    ['labels["a b"] == "x"', 'found "a b"; accepted: a label key'],
    [`"${'a'.repeat(64)}" in labels`, `found "${'a'.repeat(64)}"; accepted: a label key`],
    ['labels.a == "b c"', 'found "b c"; accepted: a label value'],
    ['!(labels.a in ["x", "-"])', 'found "-"; accepted: a label value'],
  ])('%s is refused with the reason', (cel, problem) => {
    expect(selectorOf({ cel: [cel] })).toEqual([
      expect.stringContaining(`spec.workloads.cel[0]: ${problem}`),
    ]);
  });

  test('what can be done instead is said', () => {
    expect(selectorOf({ cel: ['labels.a.startsWith("x")'] })).toEqual([
      expect.stringMatching(/; list the values with in, or give these Pods a label$/),
    ]);
    expect(selectorOf({ cel: ['labels.a == "x" || labels.b == "y"'] })).toEqual([
      expect.stringMatching(/; use in for the values of one label, or a binding for each case$/),
    ]);
  });
});

describe('conditions that no Pod can meet', () => {
  test.each<readonly [string, WorkloadsSpec]>([
    ['two values of one label', { matchLabels: { a: 'x' }, cel: ['labels.a == "y"'] }],
    ['a value that is excluded', { cel: ['labels.a in ["x", "y"]', 'labels.a != "x"', 'labels.a != "y"'] }],
    ['a value of a missing label', { cel: ['labels.a == "x" && !has(labels.a)'] }],
    ['a label that is there and missing', { cel: ['has(labels.a) && !has(labels.a)'] }],
    [
      'the same without CEL',
      {
        matchExpressions: [
          { key: 'a', operator: 'Exists' },
          { key: 'a', operator: 'DoesNotExist' },
        ],
      },
    ],
  ])('%s is refused', (_title, given) => {
    expect(selectorOf(given)).toEqual([
      'spec.workloads: found conditions on label "a" that no Pod can meet; accepted: conditions that a Pod can meet',
    ]);
  });

  test('the conditions on two labels are both reported', () => {
    const cel = ['labels.a == "x" && labels.a == "y"', 'labels.b == "x" && labels.b == "y"'];
    expect(selectorOf({ cel })).toHaveLength(2);
  });
});

describe('one selector', () => {
  test('no condition means all Pods', () => {
    for (const given of [undefined, {}, { matchLabels: {} }, { matchExpressions: [], cel: [] }]) {
      expect(workloadSelector(given)).toEqual({ ok: true, selector: undefined });
    }
  });

  test('the same Pods give the same selector, however they are written', () => {
    const ways: readonly WorkloadsSpec[] = [
      {
        matchLabels: { a: 'x', b: 'y' },
        matchExpressions: [{ key: 'c', operator: 'NotIn', values: ['1', '2'] }],
      },
      { matchLabels: { b: 'y', a: 'x' }, cel: ['labels.c != "2" && labels.c != "1"'] },
      {
        matchExpressions: [{ key: 'a', operator: 'In', values: ['x'] }],
        cel: ['labels.b == "y"', '!(labels.c in ["2", "1"])'],
      },
    ];
    const texts = ways.map((given) => JSON.stringify(selectorOf(given)));
    expect(new Set(texts)).toEqual(
      new Set([
        '{"matchLabels":{"a":"x","b":"y"},"matchExpressions":[{"key":"c","operator":"NotIn","values":["1","2"]}]}',
      ]),
    );
  });

  test('a hostile key is a label like each other', () => {
    const outcome = workloadSelector({ cel: ['labels.constructor == "x" && has(labels.toString)'] });
    expect(outcome).toEqual({
      ok: true,
      selector: {
        matchLabels: { constructor: 'x' },
        matchExpressions: [{ key: 'toString', operator: 'Exists' }],
      },
    });
  });
});
