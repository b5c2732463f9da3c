// Tests what Kubernetes evaluates before an expression runs: conversions of constants, and `in` an empty list.
import { expect, test } from 'vitest';
import { compileExpression } from '../../../../src/cel/expression.ts';

test.each([
  ['int("x") == 1', false],
  ['int(dyn("x")) == 1', false],
  ['int(dyn(null)) == 0', false],
  ['int(dyn([1])) == 1', false],
  ['int(dyn({"a": 1})) == 1', false],
  ['bool(string(dyn("yes")))', false],
  ['int(dyn([object])) == 1', true],
  ['int(dyn(object)) == 1', true],
  ['int(dyn("a" + "b")) == 1', true],
  ['false && int(object.x) == 1', true],
] as const)('%s compiles: %s', (source, ok) => {
  expect(compileExpression(source, { variables: ['object'] }, 'bool').ok).toBe(ok);
});

test.each([
  ['object.missing in []', true, false],
  ['1 / 0 in []', true, false],
  ['!(object.missing in [])', true, true],
  ['object.missing in ["a"]', false, undefined],
  ['object.missing in dyn([])', false, undefined],
  ['object.missing in {}', false, undefined],
] as const)('%s can be evaluated: %s', (source, ok, value) => {
  const result = compileExpression(source, { variables: ['object'] }, 'bool');
  expect(result.ok && result.expression.evaluate({ object: {} })).toMatchObject(ok ? { ok, value } : { ok });
});
