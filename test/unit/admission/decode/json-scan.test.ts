// Measuring a JSON text and finding its uid without parsing it.
import { describe, expect, test } from 'vitest';
import {
  findUid,
  isSmallAndFlat,
  maxDepth,
  maxValues,
  measureJson,
} from '../../../../src/admission/decode/decode-envelope.ts';

describe('measureJson', () => {
  test.each([
    ['', 0, 0],
    ['1', 0, 0],
    ['{}', 1, 1],
    ['{"a":1}', 1, 1],
    ['{"a":1,"b":[1,2,3]}', 2, 5],
    ['[[[]]]', 3, 3],
    ['{"a":"[[[[,,,,{{{{"}', 1, 1],
    ['{"a":"\\"[[["}', 1, 1],
    ['{"a":"\\\\","b":[]}', 2, 3],
    ['{"ключ":"{é[😀"}', 1, 1],
    // Not JSON: only that it ends is asked of these.
    ['{"a":"never closed [[[[', 1, 1],
    ['{"a":"\\', 1, 1],
    [']]]]', 0, 0],
  ])('%s', (text, depth, values) => {
    expect(measureJson(Buffer.from(text))).toMatchObject({ depth, values });
  });
});

describe('measureJson finds the end of a string of any length', () => {
  const lengths = Array.from({ length: 12 }, (_, index) => 58 + index);
  test.each(['', '\\\\', '\\"', '\\\\\\"', '\\"\\"', '\\\\'.repeat(70)])(
    'a string ends after %s',
    (escapes) => {
      for (const length of lengths) {
        for (const content of ['['.repeat(length) + escapes, escapes + '['.repeat(length)]) {
          const text = `{"${content}":["${content}",[]]}`;
          expect(JSON.parse(text)).toBeTypeOf('object');
          expect(measureJson(Buffer.from(text))).toMatchObject({ depth: 3, values: 4 });
        }
      }
    },
  );

  test('a long string that never ends', () => {
    expect(measureJson(Buffer.from(`["${'['.repeat(100)}`))).toMatchObject({ depth: 1, values: 1 });
    expect(measureJson(Buffer.from(`["${'['.repeat(100)}\\"[`))).toMatchObject({ depth: 1, values: 1 });
  });
});

const nested = (depth: number): Buffer => Buffer.from('{"a":'.repeat(depth / 2) + '['.repeat(depth / 2));

test('a body needs no measuring while it has no more brackets than levels are accepted', () => {
  expect(isSmallAndFlat(nested(maxDepth))).toBe(true);
  expect(isSmallAndFlat(nested(maxDepth + 2))).toBe(false);
});

test('a body needs no measuring while it has no more bytes than values are accepted', () => {
  expect(isSmallAndFlat(Buffer.alloc(maxValues, ','))).toBe(true);
  expect(isSmallAndFlat(Buffer.alloc(maxValues + 1, ','))).toBe(false);
});

describe('measureJson counts the values of the objects of a request', () => {
  test.each([
    ['{"request":{"object":{"a":1,"b":[1,2]},"oldObject":{"a":{}}}}', 4, 2],
    ['{"request":{"oldObject":null,"uid":"x","object":[[]]}}', 2, 0],
    ['{"request" :{"object" : {"oldObject":{"a":[1,2,3]}},"options":{"a":1,"b":2}}}', 5, 0],
    ['{"response":{"object":{"a":1}},"request":{"kind":{"object":{"a":1}}}}', 0, 0],
    // The last of two counts for JSON.parse. Both count here.
    ['{"request":{"object":{"a":1},"object":{"b":1}}}', 2, 0],
  ])('%s', (text, object, oldObject) => {
    expect(measureJson(Buffer.from(text))).toMatchObject({ object, oldObject });
  });
});

describe('findUid', () => {
  test.each([
    ['{"request":{"uid":"a"}}', 'a'],
    ['{"request" : { "name":"uid" , "uid" :\n"a\\u0062" }}', 'ab'],
    ['{"uid":"no","request":{"object":{"uid":"no"},"uid":"a"},"response":{"uid":"no"}}', 'a'],
    ['{"request":{"uid":5}}', undefined],
    ['{"request":{}}', undefined],
    ['{"request":{"object":{"request":{"uid":"no"}}}}', undefined],
    ['', undefined],
    ['{"request":{"uid":"\\x"}}', undefined],
  ])('%s', (text, uid) => {
    expect(findUid(Buffer.from(text))).toBe(uid);
  });

  test('it reads a view into a larger buffer', () => {
    const text = '{"request":{"uid":"a"}}';
    const whole = Buffer.from(`xxxx${text}yyyy`);
    expect(findUid(whole.subarray(4, 4 + text.length))).toBe('a');
  });
});
