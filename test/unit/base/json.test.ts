// Checks what counts as a JSON object, and that only its own members are read.
import { expect, test } from 'vitest';
import { isJsonObject, ownMember } from '../../../src/base/json.ts';

test.each<readonly [unknown, boolean]>([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ['text', false],
  [5, false],
])('%j is a JSON object: %s', (value, isObject) => {
  expect(isJsonObject(value)).toBe(isObject);
});

test.each<readonly [unknown, string, unknown]>([
  [{ a: 1 }, 'a', 1],
  [{ a: null }, 'a', null],
  [{}, 'a', undefined],
  [{}, 'constructor', undefined],
  [{}, '__proto__', undefined],
  [JSON.parse('{"__proto__":1}'), '__proto__', 1],
  [['a'], '0', undefined],
  ['text', 'length', undefined],
])('the own member of %j named %s is %j', (value, name, found) => {
  expect(ownMember(value, name)).toBe(found);
});
