import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fingerprintOf, secretSize, secretType, secretValue } from '../../../src/rules/secret-values.ts';
import { unlimitedBudget } from '../../../src/policy/terms/budget.ts';
import { propertyRuns } from '../../support/property-runs.ts';

function secret(fields: Readonly<Record<string, unknown>>) {
  return { metadata: { name: 's' }, ...fields };
}

const own = JSON.parse('{"__proto__":"MDEyMzQ="}') as Readonly<Record<string, string>>;

test.for([
  [{}, 0],
  [{ data: null }, 0],
  [{ data: {} }, 0],
  [{ data: { a: 'MDEyMzQ=' } }, 5],
  [{ data: { a: 'MDEyMzQ=' }, stringData: { a: 'é' } }, 2],
  [{ data: { a: 'MDEyMzQ=' }, stringData: { b: '12' } }, 7],
  [{ data: own }, 5],
  [{ data: [] }, 0],
] as const)('the size of %j is %d', ([fields, size]) => {
  expect(secretSize(secret(fields))).toBe(size);
});

test.for([
  [{}, { kind: 'absent' }],
  [{ data: { k: 'YQ==' } }, { kind: 'bytes', bytes: Buffer.from('a') }],
  [{ data: { k: 'Y\nQ==' } }, { kind: 'bytes', bytes: Buffer.from('a') }],
  [{ data: { k: '' } }, { kind: 'bytes', bytes: Buffer.alloc(0) }],
  [{ data: { k: 'YQ' } }, { kind: 'undecodable', text: 'YQ' }],
  [{ data: { k: 'Y-_=' } }, { kind: 'undecodable', text: 'Y-_=' }],
  [
    { data: { k: 'YQ==' }, stringData: { k: 'b' } },
    { kind: 'bytes', bytes: Buffer.from('b') },
  ],
  [{ data: { k: 5 } }, { kind: 'absent' }],
] as const)('the value in %j', ([fields, value]) => {
  expect(secretValue(secret(fields), 'k', unlimitedBudget)).toEqual(value);
});

test('any text is base64 exactly when it is padded, and of the standard alphabet apart from line breaks', () => {
  const near = fc.string({
    unit: fc.constantFrom(...Array.from('AQw4+/==-_\n\r \u00e9\u0141')),
    maxLength: 12,
  });
  const whole = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'));
  fc.assert(
    fc.property(fc.oneof(near, whole, fc.string()), (text) => {
      const digits = text.replaceAll(/[\r\n]/g, '');
      const isBase64 = digits.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(digits);
      const value = secretValue(secret({ data: { k: text } }), 'k', unlimitedBudget);
      expect(value).toEqual(
        isBase64 ? { kind: 'bytes', bytes: Buffer.from(text, 'base64') } : { kind: 'undecodable', text },
      );
    }),
    { numRuns: propertyRuns(2000) },
  );
});

test('keys that every object inherits are absent unless they are there', () => {
  expect(secretValue(secret({ data: {} }), 'constructor', unlimitedBudget)).toEqual({ kind: 'absent' });
  expect(secretValue(secret({ data: own }), '__proto__', unlimitedBudget)).toEqual({
    kind: 'bytes',
    bytes: Buffer.from('01234'),
  });
});

test('a Secret without a type is Opaque', () => {
  expect(secretType(secret({}))).toBe('Opaque');
  expect(secretType(secret({ type: '' }))).toBe('Opaque');
  expect(secretType(secret({ type: 'x/y' }))).toBe('x/y');
});

test('fingerprints tell values and their kinds apart', () => {
  const bytes = (text: string) => ({ kind: 'bytes', bytes: Buffer.from(text) }) as const;
  const prints = [
    bytes('a'),
    bytes('b'),
    bytes(''),
    { kind: 'absent' },
    { kind: 'undecodable', text: 'a' },
  ] as const;
  expect(new Set(prints.map((value) => fingerprintOf(value))).size).toBe(prints.length);
});
