// Tests which values a ConfigMap can hold, and in which field.
import { expect, test } from 'vitest';
import { configMapData, valuesOf } from '../../../../src/policy/plan/config-map-values.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const text = Buffer.from('a');

test('the values of a Secret are decoded', () => {
  const secret = { kind: 'Secret', metadata: {}, data: { a: base64('x') }, binaryData: { b: base64('y') } };
  expect([...valuesOf(secret)]).toEqual([['a', Buffer.from('x')]]);
});

test('a ConfigMap has its text and its binary values', () => {
  const source = { kind: 'ConfigMap', metadata: {}, data: { a: 'x' }, binaryData: { b: base64('y') } };
  expect([...valuesOf(source)]).toEqual([
    ['a', Buffer.from('x')],
    ['b', Buffer.from('y')],
  ]);
});

test('bytes that are no UTF-8 go to binaryData, and text goes to data', () => {
  const values = new Map([
    ['text', Buffer.from('größe')],
    ['__proto__', text],
    ['bytes', Buffer.from([0xff, 0])],
  ]);
  expect(JSON.stringify(configMapData(values))).toBe(
    '{"data":{"text":"größe","__proto__":"a"},"binaryData":{"bytes":"/wA="}}',
  );
});

test.for([
  [1_048_575, false],
  [1_048_576, true],
] as const)('a value of %i bytes with a key of one letter is too large: %s', ([size, isTooLarge]) => {
  const result = configMapData(new Map([['k', Buffer.alloc(size, 0xff)]]));
  expect('reason' in result).toBe(isTooLarge);
});
