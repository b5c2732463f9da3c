// Tests `variables`: expressions that others read by name, in the scopes that have this variable.
import { expect, test } from 'vitest';
import { compileExpression, withVariables } from '../../../src/cel/expression.ts';
import type { Bindings, Expression, ExpressionScope, Type } from '../../../src/cel/expression.ts';

const bindings: Bindings = { object: { number: 1, list: [1, 'a'], text: 'a' } };
const sources = {
  number: 'object.number + 1',
  text: 'string(object.number)',
  list: '[1, 2].map(x, x * 2)',
  empty: '[]',
  map: '{"a": {"b": variables.text}}',
  optional: 'object.?none',
  raw: 'object.list',
  missing: 'object.none.deeper',
  after: 'variables.missing == 1 || variables.text == "1"',
};

const computed = new Map<string, Expression>();
for (const [name, source] of Object.entries(sources)) computed.set(name, compiled(source, 'any'));

function scope(): ExpressionScope {
  const types = Array.from(computed, ([name, { type }]): [string, Type] => [name, type]);
  return { variables: ['object', 'variables'], computed: Object.fromEntries(types) };
}

function compiled(source: string, result: 'bool' | 'any'): Expression {
  const outcome = compileExpression(source, scope(), result);
  if (!outcome.ok) throw new Error(outcome.problem.message);
  return outcome.expression;
}

test.each([
  'variables.number == 2',
  '[variables.text, "b"] == ["1", "b"]',
  'variables.list == [2, 4] && variables.list.all(x, x in variables.list)',
  'variables.empty == [1].filter(x, x > 1) && variables.empty == ["a"].filter(x, x == "")',
  'variables.map.a.b == "1"',
  '!variables.optional.hasValue()',
  'variables.raw[0] == 1 && type(variables.raw[0]) == int',
  'variables.after',
  'has(variables.missing) && true',
  'variables.missing == 1 || true',
  '[object].all(variables, variables.text == "a")',
])('%s is true', (source) => {
  expect(compiled(source, 'bool').evaluate(withVariables(bindings, computed))).toEqual({
    ok: true,
    value: true,
  });
});

test.each(['variables.missing == 1', 'variables.?missing.hasValue()', 'dyn(variables)["missing"] == 1'])(
  '%s fails as its variable does',
  (source) => {
    expect(compiled(source, 'bool').evaluate(withVariables(bindings, computed))).toEqual({
      ok: false,
      reason: 'failed',
      message: 'composited variable "missing" fails to evaluate: no such key: none',
    });
  },
);

test.each([
  [
    'variables.none == 1',
    'a value of type kubernetes.variables has no field none; it has number, text, list, empty, map, optional, raw, missing, after',
  ],
  [
    'variables.toString == 1',
    'a value of type kubernetes.variables has no field toString; it has number, text, list, empty, map, optional, raw, missing, after',
  ],
  ['variables.text == 1', '_==_ does not exist for (string, int)'],
  ['variables["text"] == "1"', 'a kubernetes.variables cannot be indexed by a string'],
])('%s does not compile: %s', (source, message) => {
  expect(compileExpression(source, scope(), 'bool')).toMatchObject({ ok: false, problem: { message } });
});

test('a scope without variables refuses the name', () => {
  const without: ExpressionScope = { variables: ['object', 'oldObject', 'request', 'namespaceObject'] };
  expect(compileExpression('variables.text == "1"', without, 'bool')).toMatchObject({
    ok: false,
    problem: { message: 'there is no variable variables here' },
  });
});

test('each variable is evaluated once, and only when it is read', () => {
  let reads = 0;
  const counting = Object.defineProperty({}, 'number', { enumerable: true, get: () => (reads += 1) });
  const all = withVariables({ object: counting }, computed);
  expect(reads).toBe(0);
  for (const expected of [true, true]) {
    expect(compiled('variables.number + variables.number == 4', 'bool').evaluate(all)).toEqual({
      ok: true,
      value: expected,
    });
  }
  expect(reads).toBe(1);
});
