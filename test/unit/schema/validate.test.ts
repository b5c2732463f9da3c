// The schema language at run time: what each kind of schema takes, refuses, and says about it.
import { describe, expect, expectTypeOf, it, test } from 'vitest';
import { renderProblem } from '../../../src/base/problem.ts';
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
  type Infer,
  type Schema,
} from '../../../src/schema/schema.ts';
import { validate } from '../../../src/schema/validate.ts';

const word = text({
  description: 'A word.',
  maxLength: 5,
  minLength: 1,
  pattern: '^[a-z]+$',
  accepted: 'a word',
});
const person = object({
  description: 'A person.',
  fields: {
    name: word,
    age: integer({ description: 'Years.', minimum: 0, maximum: 150 }),
    alive: withDefault(boolean('Or not.'), true),
  },
  required: ['name'],
  rules: [
    {
      accepted: 'nobody called adam before 18',
      cel: "self.name != 'adam' || self.age >= 18",
      offender: ({ name, age }) => (name === 'adam' && (age ?? 0) < 18 ? ['age'] : undefined),
    },
  ],
});
const words = list({ description: 'Words.', items: word, minItems: 1, maxItems: 3, unique: 'set' });
const people = list({ description: 'People.', items: person, maxItems: 3, unique: { key: 'name' } });
const scores = map({
  description: 'Scores.',
  keys: word,
  values: integer({ description: 'A score.', minimum: 0, maximum: 9 }),
  maxProperties: 2,
});
const anything = openObject({
  description: 'Anything with a name.',
  fields: { name: word },
  required: ['name'],
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

function problemsOf(schema: Schema, input: unknown): readonly string[] {
  const outcome = validate(schema, input);
  return outcome.ok ? [] : outcome.problems.map(renderProblem);
}

describe('valid values', () => {
  it.each<readonly [string, Schema, unknown, unknown]>([
    ['a text', word, 'abc', 'abc'],
    ['a text as long as may be, in characters', text({ description: 'x', maxLength: 2 }), '😀😀', '😀😀'],
    ['a word of a choice', choice('x', ['a', 'b']), 'b', 'b'],
    ['a whole number', scores.values, 9, 9],
    ['a number that is written with a fraction but has none', scores.values, 2.0, 2],
    ['an object with defaults', person, { name: 'eve' }, { name: 'eve', alive: true }],
    [
      'null where a field may be absent',
      person,
      { name: 'eve', age: null, alive: null },
      { name: 'eve', alive: true },
    ],
    ['a value that is not the default', person, { name: 'eve', alive: false }, { name: 'eve', alive: false }],
    ['an empty map', scores, {}, {}],
    ['a list', words, ['a', 'b'], ['a', 'b']],
    [
      'fields that are not known, where they are kept',
      anything,
      { name: 'a', x: [1, { y: null }] },
      { name: 'a', x: [1, { y: null }] },
    ],
  ])('%s', (_title, schema, input, value) => {
    expect(validate(schema, input)).toEqual({ ok: true, value });
  });

  it('validation does not change its input', () => {
    const input = Object.freeze({ name: 'eve' });
    expect(validate(person, input)).toMatchObject({ ok: true, value: { alive: true } });
    expect(input).toEqual({ name: 'eve' });
  });
});

describe('invalid values', () => {
  it.each<readonly [string, Schema, unknown, readonly string[]]>([
    ['a number for a text', word, 5, ['the object: found 5; accepted: a word']],
    ['an empty text', word, '', ['the object: found empty text; accepted: a word']],
    [
      'a long text, without showing it',
      word,
      'abcdef',
      ['the object: found 6 characters; accepted: at most 5 characters'],
    ],
    [
      'a long text of wide characters',
      text({ description: 'x', maxLength: 2 }),
      '😀😀😀',
      ['the object: found 3 characters; accepted: at most 2 characters'],
    ],
    ['a text of another form', word, 'A b', ['the object: found "A b"; accepted: a word']],
    ['another word', choice('x', ['a', 'b', 'c']), 'd', ['the object: found "d"; accepted: a, b or c']],
    ['a fraction', scores.values, 1.5, ['the object: found 1.5; accepted: a whole number from 0 to 9']],
    [
      'a number out of range',
      scores.values,
      10,
      ['the object: found 10; accepted: a whole number from 0 to 9'],
    ],
    [
      'no number at all',
      scores.values,
      Number.NaN,
      ['the object: found NaN; accepted: a whole number from 0 to 9'],
    ],
    [
      'a text for a number',
      scores.values,
      '1',
      ['the object: found "1"; accepted: a whole number from 0 to 9'],
    ],
    ['a text for a boolean', boolean('x'), 'true', ['the object: found "true"; accepted: true or false']],
    [
      'null for an object',
      person,
      null,
      ['the object: found nothing; accepted: an object with name, age, alive'],
    ],
    [
      'a list for an object',
      person,
      [],
      ['the object: found an empty list; accepted: an object with name, age, alive'],
    ],
    ['a missing field', person, {}, ['name: found nothing; accepted: a word']],
    [
      'null for a field that must be there',
      person,
      { name: null },
      ['name: found nothing; accepted: a word'],
    ],
    [
      'an unknown field, with the one that was meant',
      person,
      { name: 'a', agee: 1 },
      ['agee: found an unknown field; accepted: name, age, alive (did you mean age?)'],
    ],
    [
      'an unknown field like no other',
      person,
      { name: 'a', x: 1 },
      ['x: found an unknown field; accepted: name, age, alive'],
    ],
    [
      'everything at once',
      person,
      { name: 1, age: 'x', alive: 'y', z: 0 },
      [
        'name: found 1; accepted: a word',
        'age: found "x"; accepted: a whole number from 0 to 150',
        'alive: found "y"; accepted: true or false',
        'z: found an unknown field; accepted: name, age, alive',
      ],
    ],
    [
      'what breaks a rule',
      person,
      { name: 'adam', age: 17 },
      ['age: found 17; accepted: nobody called adam before 18'],
    ],
    [
      'what breaks a rule by being absent',
      person,
      { name: 'adam' },
      ['age: found nothing; accepted: nobody called adam before 18'],
    ],
    ['a short list', words, [], ['the object: found an empty list; accepted: a list of 1 to 3']],
    [
      'a long list',
      words,
      ['a', 'b', 'c', 'd'],
      ['the object: found a list of 4; accepted: a list of 1 to 3'],
    ],
    [
      'bad items',
      words,
      ['a', 1, null],
      ['[1]: found 1; accepted: a word', '[2]: found nothing; accepted: a word'],
    ],
    [
      'an item twice',
      words,
      ['a', 'b', 'a'],
      ['[2]: found "a" a second time; accepted: unique values; [0] has the same one'],
    ],
    [
      'a key twice',
      people,
      [{ name: 'a' }, { name: 'a' }],
      ['[1].name: found "a" a second time; accepted: unique values; [0] has the same one'],
    ],
    ['a bad key of a map', scores, { 'a b': 1 }, ['["a b"]: found "a b"; accepted: a word']],
    ['a bad value of a map', scores, { a: null }, ['a: found nothing; accepted: a whole number from 0 to 9']],
    [
      'a big map',
      scores,
      { a: 1, b: 1, c: 1 },
      ['the object: found an object; accepted: a map of at most 2 keys'],
    ],
    [
      'what JSON cannot hold',
      anything,
      { name: 'a', x: () => 1 },
      ['x: found something that JSON cannot hold; accepted: a JSON value'],
    ],
    [
      'a number that JSON cannot hold',
      anything,
      { name: 'a', x: Number.POSITIVE_INFINITY },
      ['x: found Infinity; accepted: a JSON value'],
    ],
  ])('%s', (_title, schema, input, problems) => {
    expect(problemsOf(schema, input)).toEqual(problems);
  });

  it('nesting that is too deep is a problem', () => {
    const [problem] = problemsOf(anything, { name: 'a', x: nested(5000) });
    expect(problem).toMatch(/found deeper nesting; accepted: at most 64 levels$/);
  });

  it('the number of reported problems is limited', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, 1]));
    expect(problemsOf(person, { name: 'a', ...many })).toHaveLength(200);
  });
});

const parsed: unknown = JSON.parse('{"name":"a","__proto__":{"age":3},"constructor":1,"toString":2}');

test('hostile keys are unknown fields like others', () => {
  expect(problemsOf(person, parsed)).toEqual([
    '__proto__: found an unknown field; accepted: name, age, alive',
    'constructor: found an unknown field; accepted: name, age, alive',
    'toString: found an unknown field; accepted: name, age, alive',
  ]);
});

test('hostile keys are kept as plain keys where unknown fields are kept', () => {
  const outcome = validate(anything, parsed);
  if (!outcome.ok) throw new Error('refused');
  expect(Object.keys(outcome.value)).toEqual(['name', '__proto__', 'constructor', 'toString']);
  expect(Object.getPrototypeOf(outcome.value)).toBe(Object.prototype);
  expect(outcome.value['age']).toBeUndefined();
});

test('hostile keys never stand in for a missing field', () => {
  const inherited: unknown = Object.create({ name: 'eve' });
  expect(problemsOf(person, inherited)).toEqual(['name: found nothing; accepted: a word']);
});

test('required and defaulted fields are always present in the type, and others are optional', () => {
  expectTypeOf<Infer<typeof person>>().toEqualTypeOf<{
    readonly name: string;
    readonly alive: boolean;
    readonly age?: number;
  }>();
  expectTypeOf<Infer<typeof words>>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<Infer<typeof scores>>().toEqualTypeOf<Readonly<Record<string, number>>>();
});

test('a choice is a union of its words in the type', () => {
  const color = choice('A color.', ['red', 'green']);
  expectTypeOf<Infer<typeof color>>().toEqualTypeOf<'red' | 'green'>();
});
