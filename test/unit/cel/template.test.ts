// Templates: where an expression in text begins and ends, and what it may give.
import { describe, expect, test } from 'vitest';
import type { ExpressionScope } from '../../../src/cel/expression.ts';
import { compileTemplate, type Template } from '../../../src/cel/template.ts';

const scope: ExpressionScope = { variables: ['namespaceObject', 'request'], requestFields: ['userInfo'] };
const bindings = {
  namespaceObject: { metadata: { name: 'team-blue', labels: { team: 'blue', '}': 'brace' } } },
  request: { userInfo: { username: 'jane' } },
};

function template(source: string): Template {
  const compiled = compileTemplate(source, scope);
  if (!compiled.ok) throw new Error(compiled.problem.message);
  return compiled.template;
}

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['ad-${namespaceObject.metadata.name}', 'ad-team-blue'],
  ['${"a"}${"b"}', 'ab'],
  ['${ request.userInfo.username }!', 'jane!'],
  ["${namespaceObject.metadata.labels['}']}", 'brace'],
  ['${"}"}', '}'],
  ['${"\\"}"}', '"}'],
  ["${r'\\'}", '\\'],
  ['${"""a"}b"""}', 'a"}b'],
  ["${'''it's }'''}", "it's }"],
  ['${string(b"}")}', '}'],
  ['${{"a": "b"}.a}', 'b'],
  ['${{"a": {"b": "c"}}["a"]["b"]}', 'c'],
  ['${"a" // a comment with }\n}', 'a'],
  ['$${namespaceObject}', '${namespaceObject}'],
  ['$${${"a"}}', '${a}'],
  ['$$${"a"}', '$${"a"}'],
  ['$ {x} {y} $', '$ {x} {y} $'],
  ['a } b', 'a } b'],
  ['${"$" + "{"}', '${'],
  ['é🎉${"x"}', 'é🎉x'],
])('%s renders %s', (source, text) => {
  expect(template(source).render(bindings)).toEqual({ ok: true, value: text });
});

test.each([
  ['${', 0, 'the closing } is missing'],
  ['ab ${"x"', 3, 'the closing } is missing'],
  ['${"x}', 0, 'the closing } is missing'],
  ['${}', 2, undefined],
  ['a${1}', 3, undefined],
  ['a\n${missing}', 4, undefined],
  ['${object.a}', 2, undefined],
  ['${request.object}', 9, undefined],
  ['${"a" ; "b"}', 6, undefined],
])('%j has a problem at %d', (source, offset, message) => {
  const compiled = compileTemplate(source, scope);
  expect(compiled).toMatchObject({
    ok: false,
    problem: { offset, ...(message === undefined ? {} : { message }) },
  });
});

test('a problem has its line and column in the whole text', () => {
  expect(compileTemplate('one\ntwo ${ nope }', scope)).toMatchObject({ problem: { line: 2, column: 8 } });
});

describe('what a template needs', () => {
  test('a template needs the fields that its expressions read', () => {
    expect(template('${request.userInfo.username}-${namespaceObject.metadata.name}').reads).toEqual(
      new Set(['request', 'namespaceObject']),
    );
  });

  test.each([
    ['plain', true],
    ['$${x}', true],
    ['${"a"}', false],
  ])('%s is literal: %j', (source, literal) => {
    expect(template(source).literal).toBe(literal);
  });

  test.each([
    ['${namespaceObject.metadata.labels.nope}', 'missing'],
    ['${request.userInfo.uid}', 'failed'],
    ['${namespaceObject.metadata.name.split("-")[2]}', 'failed'],
    ['${string(1 / (size(namespaceObject.metadata.name) - 9))}', 'failed'],
  ])('%s cannot be rendered: %s', (source, reason) => {
    expect(template(source).render(bindings)).toMatchObject({ ok: false, reason });
  });
});
