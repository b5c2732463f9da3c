// Properties of the label selectors that CEL on labels becomes.
import { compileSelector } from '../../src/schema/selector.ts';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { workloadSelector } from '../../src/api/intents/workloads.ts';
import { compileExpression } from '../../src/cel/expression.ts';
import { propertyRuns } from '../support/property-runs.ts';

const keys = ['a', 'b', 'example.com/c'] as const;
const values = ['', 'x', 'y'] as const;
const key = fc.constantFrom(...keys);
const value = fc.constantFrom(...values).map((text) => JSON.stringify(text));
const label = key.chain((name) =>
  fc.constantFrom(`labels["${name}"]`, ...(name.includes('/') ? [] : [`labels.${name}`])),
);

const conditions = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.tuple(label, fc.constantFrom('==', '!='), value).map((parts) => parts.join(' ')),
    fc.tuple(value, fc.constantFrom('==', '!='), label).map((parts) => parts.join(' ')),
    fc
      .tuple(label, fc.array(value, { minLength: 1, maxLength: 3 }))
      .map(([name, list]) => `${name} in [${list.join(', ')}]`),
    key.map((name) => `"${name}" in labels`),
    fc.constantFrom('a', 'b').map((name) => `has(labels.${name})`),
    tie('condition').map((inner) => `!(${inner})`),
    fc
      .tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition'))
      .map(([left, sign, right]) => `(${left}) ${sign} (${right})`),
  ),
}));
const labels = fc.dictionary(key, fc.constantFrom(...values), { maxKeys: 3 });

/** CEL here has no variable `labels`, so the test reads them as a field of `object`. */
function evaluate(condition: string, of: Readonly<Record<string, string>>): boolean | undefined {
  const compiled = compileExpression(
    condition.replaceAll('labels', 'object.labels'),
    { variables: ['object'] },
    'bool',
  );
  if (!compiled.ok) throw new Error(compiled.problem.message);
  const result = compiled.expression.evaluate({ object: { labels: of } });
  return result.ok ? result.value === true : undefined;
}

test('where CEL gives an answer, the selector gives the same one', () => {
  let compared = 0;
  fc.assert(
    fc.property(fc.array(conditions.condition, { minLength: 1, maxLength: 3 }), labels, (cel, of) => {
      const selected = workloadSelector({ cel });
      if (!selected.ok) return;
      const answers = cel.map((each) => evaluate(each, of));
      if (answers.includes(undefined)) return;
      compared += 1;
      const matches = selected.selector === undefined || compileSelector(selected.selector).matches(of);
      expect(matches, JSON.stringify({ cel, of, selected })).toBe(!answers.includes(false));
    }),
    { numRuns: propertyRuns(2000) },
  );
  expect(compared).toBeGreaterThan(propertyRuns(2000) / 20);
});

test('a condition is refused as one that no Pod can meet where that is so, and only there', () => {
  // The value z is none that conditions name.
  const all = keys.reduce<readonly Readonly<Record<string, string>>[]>(
    (maps, name) =>
      maps.flatMap((map) => [map, ...[...values, 'z'].map((text) => ({ ...map, [name]: text }))]),
    [{}],
  );
  fc.assert(
    fc.property(conditions.condition, (cel) => {
      const selected = workloadSelector({ cel: [cel] });
      if (selected.ok) {
        const selector = compileSelector(selected.selector ?? {});
        expect(
          all.some((of) => selector.matches(of)),
          cel,
        ).toBe(true);
      } else if (selected.problems.some(({ found }) => found.includes('no Pod can meet'))) {
        expect(all.filter((of) => evaluate(cel, of) === true)).toEqual([]);
      }
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('any text becomes a selector or a problem inside the text, and never an exception', () => {
  const token = fc.oneof(
    fc.constantFrom(
      'labels',
      '.a',
      '["a"]',
      '"x"',
      '==',
      '!=',
      'in',
      '!',
      '&&',
      '||',
      '(',
      ')',
      '[',
      ']',
      ',',
    ),
    fc.constantFrom('has(', '.contains("x")', '?', ':', '{', '}', '1', 'true', 'null', '.?b', '[?"b"]'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const texts = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(' '));
  fc.assert(
    fc.property(texts, (text) => {
      const outcome = workloadSelector({ cel: [text] });
      const offsets = outcome.ok ? [] : outcome.problems.map(({ offset = 0 }) => offset);
      expect(offsets.every((offset) => offset >= 0 && offset <= text.length)).toBe(true);
    }),
    { numRuns: propertyRuns(2000) },
  );
  for (const sign of ['!', '(', '[']) expect(workloadSelector({ cel: [sign.repeat(4000)] }).ok).toBe(false);
});
