// Tests the text of durations, which is exact where a double is.
import { expect, test } from 'vitest';
import { compileExpression } from '../../../../src/cel/expression.ts';

test.each([
  ['0s', '0s'],
  ['1ns', '0.000000001s'],
  ['-999ns', '-0.000000999s'],
  ['1us', '0.000001s'],
  ['-1500ms', '-1.5s'],
  ['1h30m', '5400s'],
  ['123456.000000001s', '123456.000000001s'],
  ['9223372036.854775807s', '9223372036.854776s'],
  ['-9223372036.854775808s', '-9223372036.854776s'],
])('%s is written %s', (duration, text) => {
  const source = 'string(duration(object)) + " " + "%s".format([duration(object)])';
  const result = compileExpression(source, { variables: ['object'] }, 'string');
  expect(result.ok && result.expression.evaluate({ object: duration })).toEqual({
    ok: true,
    value: `${text} ${text}`,
  });
});
