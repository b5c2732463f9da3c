// Tests that validate() reports as many problems as Kubernetes.
import { expect, test } from 'vitest';
import { compileExpression } from '../../../../src/cel/expression.ts';

test.each([
  ['dns1123Label', 'team-blue', 0],
  ['dns1123Label', 'Team', 1],
  ['dns1123Label', 'a'.repeat(64), 1],
  ['dns1123Label', 'A'.repeat(64), 2],
  ['dns1123Label', 'ü'.repeat(32), 2],
  ['dns1123LabelPrefix', `${'a'.repeat(63)}-`, 0],
  ['dns1123LabelPrefix', `${'a'.repeat(65)}-`, 1],
  ['dns1035Label', '1a', 1],
  ['dns1123Subdomain', `${'a.'.repeat(127)}.`, 2],
  ['labelValue', '', 0],
  ['labelValue', '-'.repeat(64), 2],
  ['qualifiedName', 'example.com/name', 0],
  ['qualifiedName', '', 2],
  ['qualifiedName', '/', 3],
  ['qualifiedName', 'A/b', 1],
  ['qualifiedName', `${'A'.repeat(254)}/${'-'.repeat(64)}`, 4],
  ['qualifiedName', 'a/b/c', 1],
  ['uuid', 'x', 1],
])('the number of problems that %s reports for %j is %d', (format, text, problems) => {
  const source = `format.${format}().validate(object).orValue([]).size() == ${problems}`;
  const result = compileExpression(source, { variables: ['object'] }, 'bool');
  expect(result.ok && result.expression.evaluate({ object: text })).toEqual({ ok: true, value: true });
});
