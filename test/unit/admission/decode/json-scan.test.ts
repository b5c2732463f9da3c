// Measuring a JSON text and finding its uid without parsing it.
import { describe, expect, test } from 'vitest';
import { findUid, measureJson } from '../../../../src/admission/decode/json-scan.ts';

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
