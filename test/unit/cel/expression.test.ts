// Tests scopes, places of problems, missing values and the budget of expressions.
import { describe, expect, test } from 'vitest';
import { compileExpression } from '../../../src/cel/expression.ts';
import type { Bindings, Evaluation, Expression, ExpressionScope } from '../../../src/cel/expression.ts';

const everything: ExpressionScope = { variables: ['object', 'oldObject', 'request', 'namespaceObject'] };

function compiled(source: string, result: 'bool' | 'string' = 'bool', scope = everything): Expression {
  const outcome = compileExpression(source, scope, result);
  if (!outcome.ok) throw new Error(outcome.problem.message);
  return outcome.expression;
}

function evaluate(source: string, bindings: Bindings, result: 'bool' | 'string' = 'bool'): Evaluation {
  return compiled(source, result).evaluate(bindings);
}

describe('scope', () => {
  const restricted: ExpressionScope = {
    variables: ['namespaceObject', 'request'],
    requestFields: ['name', 'userInfo'],
  };

  test.each([
    'request.name == "a"',
    'request.userInfo.username == "a"',
    'has(request.name)',
    'request.?name.orValue("") == "a"',
    '[1].all(request, request == 1)',
    '[{"anything": 1}].all(request, request.anything == 1)',
  ])('%s sees only its scope', (source) => {
    expect(compileExpression(source, restricted, 'bool').ok).toBe(true);
  });

  test.each([
    'request.object == 1',
    'has(request.object)',
    'request.?object.hasValue()',
    'request["object"] == 1',
    'request["name"] == 1',
    'request[?"object"].hasValue()',
    'dyn(request).object == 1',
    'request == request',
    '"name" in request',
    'request.all(key, true)',
    '[request][0].object == 1',
    '{"a": request}.a.object == 1',
    'optional.of(request).object.hasValue()',
    'object.metadata.name == "a"',
    'oldObject == null',
  ])('%s does not compile', (source) => {
    expect(compileExpression(source, restricted, 'bool').ok).toBe(false);
  });

  test.each([
    ['object.a == oldObject.a', ['object', 'oldObject']],
    ['[1].all(object, object == 1)', []],
    ['namespaceObject.spec.finalizers.all(object, object == oldObject)', ['namespaceObject', 'oldObject']],
    ['object.all(object, object == 1)', ['object']],
    ['optional.of(1).optMap(request, request).hasValue()', []],
    ['true || request.name == ""', ['request']],
    ['"object" == "request"', []],
  ])('%s reads %j', (source, reads) => {
    expect([...compiled(source).reads].sort()).toEqual(reads);
  });
});

describe('problems', () => {
  test.each([
    ['1 +', 3, 1, 4],
    ['true &&\n  missing == 1', 10, 2, 3],
    ['object.name.matches("[")', 20, 1, 21],
    ['object.x == 1 &&\n\n"a" + 1 == ""', 22, 3, 5],
    ['duration("1d") == duration("1h")', 9, 1, 10],
    ['"a" == \'b', 7, 1, 8],
  ])('%j has a problem at offset %d', (source, offset, line, column) => {
    const outcome = compileExpression(source, everything, 'bool');
    expect(outcome).toMatchObject({ ok: false, problem: { offset, line, column } });
  });

  test.each([
    ['1', 'bool'],
    ['"a"', 'bool'],
    ['null', 'bool'],
    ['object.labels.map(l, l)', 'bool'],
    ['true', 'string'],
    ['1 + 1', 'string'],
    ['optional.of("a")', 'string'],
  ] as const)('%s is not a %s', (source, result) => {
    expect(compileExpression(source, everything, result).ok).toBe(false);
  });

  test('a result whose type is known only at run time is checked at run time', () => {
    expect(evaluate('object.a', { object: { a: true } })).toEqual({ ok: true, value: true });
    expect(evaluate('object.a', { object: { a: 'secret' } })).toMatchObject({ ok: false, reason: 'failed' });
    expect(evaluate('object.a', { object: { a: 'text' } }, 'string')).toEqual({ ok: true, value: 'text' });
    expect(evaluate('object.a', { object: { a: 1 } }, 'string')).toMatchObject({
      ok: false,
      reason: 'failed',
    });
  });
});

describe('limits when an expression is compiled', () => {
  const nested = (depth: number): string =>
    `${Array.from({ length: depth }, (_, level) => `[${level}].all(v${level}, `).join('')}true${')'.repeat(depth)}`;

  test.each([
    ['two nested macros', nested(2), true],
    ['three nested macros', nested(3), false],
    ['macros one after the other', '[1].map(a, a).map(b, b).map(c, c).map(d, d).size() == 1', true],
    ['a macro over what a macro gives', '[1].map(a, [a].filter(b, true)).all(c, c.all(d, true))', true],
    ['4096 bytes', `'${'x'.repeat(4088)}' != ''`.slice(-4096), true],
    ['4097 bytes', `'${'x'.repeat(4089)}' != ''`, false],
    ['4096 bytes of two-byte characters', `'${'é'.repeat(2045)}' != ''`, false],
    ['deep parentheses', `${'('.repeat(2000)}true${')'.repeat(2000)}`, false],
    ['deep lists', `${'['.repeat(2000)}${']'.repeat(2000)} == []`, false],
    ['many negations', `${'!'.repeat(4000)}true`, false],
    ['many minus signs', `${'-'.repeat(4000)}1 == 1`, false],
    ['a long sum', `1${'+1'.repeat(2000)} == 1`, false],
    ['a long chain of fields', `object${'.a'.repeat(2000)} == 1`, false],
    ['a long chain of indexes', `object${'[0]'.repeat(1300)} == 1`, false],
    ['a long disjunction', `true${'||true'.repeat(600)}`, true],
    ['deep ternaries', `${'true?true:'.repeat(400)}true`, false],
    ['deep ternaries in parentheses', '(true?'.repeat(600), false],
  ])('%s', (_, source, ok) => {
    expect(compileExpression(source, everything, 'bool').ok).toBe(ok);
  });
});

describe('errors at run time', () => {
  const bindings: Bindings = {
    object: { a: { b: 'canary' }, list: ['canary'], none: null, key: 'canary' },
    namespaceObject: { metadata: { name: 'n', labels: { own: 'canary' } } },
  };

  test.each([
    ['object.missing == 1', 'failed'],
    ['object.a.missing == 1', 'failed'],
    ['object.none.missing == 1', 'failed'],
    ['object["missing"] == 1', 'failed'],
    ['object.a[object.key] == 1', 'failed'],
    ['object.list[5] == 1', 'failed'],
    ['object.?missing.value() == 1', 'failed'],
    ['has(object.missing.deeper)', 'failed'],
    ['oldObject.a == 1', 'failed'],
    ['object.a.b + 1 == 1', 'failed'],
    ['object.a.b.c == 1', 'failed'],
    ['1 / 0 == 1', 'failed'],
    ['int(object.a.b) == 1', 'failed'],
    ['quantity(object.a.b) == quantity("1")', 'failed'],
    ['timestamp(object.a.b) == timestamp(0)', 'failed'],
    ['namespaceObject.metadata.labels.team == ""', 'missing'],
    ['namespaceObject.metadata.annotations["ad/view"] == ""', 'missing'],
    ['[namespaceObject].all(n, n.metadata.labels["x"] == "")', 'missing'],
    ['namespaceObject.metadata.labels.all(k, k in namespaceObject.metadata.annotations)', 'failed'],
    ['namespaceObject.metadata.?annotations["x"].value() == ""', 'failed'],
    ['namespaceObject.metadata.resourceVersion == ""', 'failed'],
    ['namespaceObject.metadata.labels.own.split(",")[1] == ""', 'failed'],
    ['dyn(namespaceObject).metadata.annotatons["x"] == ""', 'failed'],
    ['"a".matches(object.a.b + "(")', 'failed'],
    ['object.list.sum() == 1', 'failed'],
  ])('%s ends with the reason %s', (source, reason) => {
    const evaluation = evaluate(source, bindings);
    expect(evaluation).toMatchObject({ ok: false, reason });
    expect(JSON.stringify(evaluation)).not.toContain('canary');
  });

  test('the message names a key that stands in the expression', () => {
    expect(evaluate('object.a.foo == 1', bindings)).toMatchObject({ message: 'no such key: foo' });
    expect(evaluate('object.a["foo"] == 1', bindings)).toMatchObject({ message: 'no such key: foo' });
  });

  test.each([
    ['labels.team', 'label team is missing'],
    ['labels["team"]', 'label team is missing'],
    ['labels[namespaceObject.metadata.name]', 'label n is missing'],
    ['annotations.team', 'annotation team is missing'],
    ['annotations["ad/view"]', 'annotation ad/view is missing'],
    ['annotations[namespaceObject.metadata.labels["x"]]', 'label x is missing'],
    ['annotations.size()', 'the namespace has no annotations'],
  ])('the error of %s names the label or annotation that the namespace lacks', (lookup, message) => {
    expect(evaluate(`dyn(namespaceObject.metadata.${lookup}) == 1`, bindings)).toMatchObject({ message });
  });
});

describe('the budget', () => {
  const size = 60_000;
  const map = Object.fromEntries(
    Array.from({ length: size }, (_, index) => [`key-${index}`, `value-${index}`]),
  );
  const bindings: Bindings = { object: { map, text: 'y'.repeat(200_000) }, oldObject: { map: { ...map } } };

  test.each([
    'object.map.all(a, object.map.all(b, a != b || a == b))',
    'object.map.all(a, object.map.exists(b, true))',
    'object.map.all(a, object.map.size() > 0)',
    'object.map.all(a, object.map == oldObject.map)',
    'object.map.all(a, a in object.map.map(b, b))',
    'object.map.all(a, optional.ofNonZeroValue(object.map).hasValue())',
    'object.map.map(a, object.map.map(b, a + b)).size() > 0',
    'object.map.map(a, a).distinct().size() > 0',
    'sets.contains(object.map.map(a, a), object.map.map(b, b))',
    'object.map.all(a, object.text.replace("y", "yy") != a)',
    'object.map.all(a, object.text.split("").size() > 0)',
    'object.map.all(a, !object.text.matches("(y*)*z"))',
    'object.map.all(a, !a.matches(a + "(b{1000})"))',
    'object.map.all(a, object.text == object.text + "")',
    'object.map.all(a, "%s".format([object.map]) != "")',
    'lists.range(1000000000).size() > 0',
    `optional.of(object.text)${'.optMap(x, x + x)'.repeat(100)}.hasValue()`,
    `optional.of([1])${'.optMap(x, x + x)'.repeat(100)}.hasValue()`,
    `object.map.map(a, a).join("${'x'.repeat(2000)}").replace("x", "${'y'.repeat(1000)}").size() > 0`,
  ])('%s ends when its budget is used up', (source) => {
    expect(evaluate(source, bindings)).toMatchObject({ ok: false, reason: 'budget' });
  });

  test.each([
    [`object.map.all(a, object.map.all(b, ${'(b != a || true) && '.repeat(200)}true))`],
    [`object.map.all(a, object.map.all(b, [${'1, '.repeat(1000)}1][0] == 1))`],
    [`object.map.all(a, object.map.all(b, object${'.?a'.repeat(90)}.hasValue() || true))`],
    ['object.map.all(a, object.map.all(b, quantity("1Gi").isGreaterThan(quantity("1Mi"))))'],
  ])('%s takes no more steps than units', (source) => {
    expect(evaluate(source, bindings)).toMatchObject({ ok: false, reason: 'budget' });
  });

  test.each([
    ['1 + 1 == 2', 7],
    ['true || object.a.b.c == 1', 2],
    ['false || true', 3],
    ['[1, 2].all(x, x > 0)', 16],
    ['"abc".matches("b")', 9],
    ['isIP("10.0.0.1")', 12],
  ])('%s costs %i units on every machine', (source, units) => {
    let spent = 0;
    compiled(source).evaluate({}, { spend: (each) => (spent += each) });
    expect(spent).toBe(units);
  });

  test('a used up budget is not absorbed by || or &&', () => {
    expect(evaluate('lists.range(1000000000).size() > 0 || true', bindings)).toMatchObject({
      reason: 'budget',
    });
  });

  test('one macro over a large object stays within the budget', () => {
    expect(evaluate('object.map.all(k, v, k.size() < 64 && v != "")', bindings)).toEqual({
      ok: true,
      value: true,
    });
  });
});

test('an expression keeps nothing from one evaluation to the next', () => {
  const expression = compiled('object.list.exists(x, x == object.wanted)');
  expect(expression.evaluate({ object: { list: [1, 2], wanted: 2 } })).toEqual({ ok: true, value: true });
  expect(expression.evaluate({ object: { list: [1], wanted: 2 } })).toEqual({ ok: true, value: false });
  expect(expression.evaluate({ object: null })).toMatchObject({ ok: false, reason: 'failed' });
  expect(expression.evaluate({})).toMatchObject({ ok: false, reason: 'failed' });
});

test('keys that are properties of every JavaScript object are plain keys', () => {
  const object: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": "x", "toString": null}');
  const source =
    'object.__proto__.a == 1 && object.constructor == "x" && has(object.toString) && !has(object.valueOf)';
  expect(evaluate(source, { object })).toEqual({ ok: true, value: true });
  expect(evaluate('object.all(k, k in ["__proto__", "constructor", "toString"])', { object })).toMatchObject({
    value: true,
  });
});
