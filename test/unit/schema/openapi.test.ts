// What each kind of schema becomes in a CustomResourceDefinition.
import { describe, expect, it } from 'vitest';
import {
  boolean,
  choice,
  integer,
  list,
  map,
  object,
  openObject,
  text,
  withDefault,
  type Schema,
} from '../../../src/schema/schema.ts';
import { toOpenApi } from '../../../src/schema/openapi.ts';

/** A key without a value is refused rather than dropped. */
const noNulls = { rule: 'self.all(key, dyn(self[key]) != null)', message: 'must have a value for each key' };
const plain = text({ description: 'T.', maxLength: 3 });

describe('toOpenApi', () => {
  it.each<readonly [string, Schema, object]>([
    [
      'text',
      text({ description: 'T.', minLength: 1, maxLength: 3, pattern: '^a$', format: 'date-time' }),
      { type: 'string', format: 'date-time', minLength: 1, maxLength: 3, pattern: '^a$' },
    ],
    ['choice', choice('T.', ['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    [
      'small integer',
      integer({ description: 'T.', minimum: 0, maximum: 7 }),
      { type: 'integer', format: 'int32', minimum: 0, maximum: 7 },
    ],
    [
      'big integer',
      integer({ description: 'T.', minimum: 0, maximum: 2 ** 40 }),
      { type: 'integer', format: 'int64', minimum: 0, maximum: 2 ** 40 },
    ],
    ['boolean with a default', withDefault(boolean('T.'), false), { type: 'boolean', default: false }],
    [
      'list',
      list({ description: 'T.', items: plain, maxItems: 2 }),
      { type: 'array', maxItems: 2, 'x-kubernetes-list-type': 'atomic', items: toOpenApi(plain) },
    ],
    [
      'set',
      list({ description: 'T.', items: plain, minItems: 1, maxItems: 2, unique: 'set' }),
      { type: 'array', minItems: 1, maxItems: 2, 'x-kubernetes-list-type': 'set', items: toOpenApi(plain) },
    ],
    [
      'list with a key',
      list({ description: 'T.', items: plain, maxItems: 2, unique: { key: 'name' } }),
      {
        type: 'array',
        maxItems: 2,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: toOpenApi(plain),
      },
    ],
    [
      'map',
      map({ description: 'T.', keys: plain, values: plain, maxProperties: 2 }),
      {
        type: 'object',
        maxProperties: 2,
        additionalProperties: { ...toOpenApi(plain), nullable: true },
        'x-kubernetes-validations': [
          noNulls,
          {
            rule: 'self.all(key, key.size() <= 3)',
            message: 'must have valid keys: each a text of at most 3 characters',
          },
        ],
      },
    ],
    [
      'object',
      object({ description: 'T.', fields: { a: plain, b: plain }, required: ['b'] }),
      { type: 'object', required: ['b'], properties: { a: toOpenApi(plain), b: toOpenApi(plain) } },
    ],
    [
      'open object',
      openObject({ description: 'T.', fields: { a: plain } }),
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: toOpenApi(plain) } },
    ],
  ])('%s', (_title, schema, shape) => {
    expect(toOpenApi(schema)).toEqual({ description: 'T.', ...shape });
  });

  it('the pattern for keys of a map becomes a rule, escaped for CEL', () => {
    const keys = text({
      description: 'A key.',
      maxLength: 9,
      pattern: "^\\.'$",
      accepted: 'a dot and a quote',
    });
    const schema = map({ description: 'T.', keys, values: plain, maxProperties: 2 });
    expect(toOpenApi(schema)).toMatchObject({
      'x-kubernetes-validations': [
        noNulls,
        {
          rule: "self.all(key, key.size() <= 9 && key.matches('^\\\\.\\'$'))",
          message: 'must have valid keys: each a dot and a quote',
        },
      ],
    });
  });

  it('rules that CEL cannot express are left out', () => {
    const silent = { accepted: 'm', offender: () => undefined };
    const spoken = { accepted: 'n', cel: 'true', offender: () => undefined };
    expect(toOpenApi(text({ description: 'T.', maxLength: 3, rules: [silent] }))).not.toHaveProperty(
      'x-kubernetes-validations',
    );
    expect(toOpenApi(text({ description: 'T.', maxLength: 3, rules: [silent, spoken] }))).toMatchObject({
      'x-kubernetes-validations': [{ rule: 'true', message: 'must be n' }],
    });
  });
});
