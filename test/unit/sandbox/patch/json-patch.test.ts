import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { ApiError } from '../../../../src/sandbox/api-error.ts';
import { jsonPatched } from '../../../../src/sandbox/patch/json-patch.ts';

const object: KubeObject = Object.freeze({
  kind: 'ConfigMap',
  metadata: Object.freeze({
    name: 'x',
    labels: Object.freeze({ 'a/b': '1' }),
    finalizers: Object.freeze(['p', 'q']),
  }),
  data: Object.freeze({ one: '1', toString: 'own' }),
});

function codeOf(patch: unknown): number | undefined {
  try {
    jsonPatched(object, patch);
  } catch (error) {
    if (error instanceof ApiError) return error.status.code;
    throw error;
  }
  return undefined;
}

describe('a JSON patch', () => {
  test.each<[string, object[], object]>([
    ['adds', [{ op: 'add', path: '/data/two', value: '2' }], { data: { two: '2' } }],
    [
      'replaces',
      [{ op: 'replace', path: '/metadata/labels/a~1b', value: '2' }],
      { metadata: { labels: { 'a/b': '2' } } },
    ],
    [
      'inserts',
      [{ op: 'add', path: '/metadata/finalizers/1', value: 'r' }],
      { metadata: { finalizers: ['p', 'r', 'q'] } },
    ],
    [
      'appends',
      [{ op: 'add', path: '/metadata/finalizers/-', value: 'r' }],
      { metadata: { finalizers: ['p', 'q', 'r'] } },
    ],
    ['removes', [{ op: 'remove', path: '/metadata/finalizers/0' }], { metadata: { finalizers: ['q'] } }],
    ['moves', [{ op: 'move', from: '/data/one', path: '/data/length' }], { data: { length: '1' } }],
    [
      'copies',
      [{ op: 'copy', from: '/data/one', path: '/data/values' }],
      { data: { one: '1', values: '1' } },
    ],
    ['tests', [{ op: 'test', path: '/data/one', value: '1' }], { data: { one: '1' } }],
    [
      'takes what is absent for null',
      [{ op: 'test', path: '/data/two', value: null }],
      { data: { one: '1' } },
    ],
    [
      'sees what came before',
      [
        { op: 'add', path: '/more', value: {} },
        { op: 'add', path: '/more/keys', value: 1 },
      ],
      { more: { keys: 1 } },
    ],
    [
      'knows own members by the names of inherited ones',
      [{ op: 'replace', path: '/data/toString', value: 'x' }],
      { data: { toString: 'x' } },
    ],
    ['may take the metadata away', [{ op: 'remove', path: '/metadata' }], { metadata: {} }],
  ])('%s', (_, patch, expected) => {
    expect(jsonPatched(object, patch)).toMatchObject(expected);
  });

  test.each<[string, object]>([
    ['a failed test', { op: 'test', path: '/data/one', value: '2' }],
    ['a missing key', { op: 'remove', path: '/data/two' }],
    ['a missing parent', { op: 'add', path: '/nothing/two', value: 1 }],
    ['a missing source', { op: 'move', from: '/data/two', path: '/data/three' }],
    ['an index beyond the list', { op: 'add', path: '/metadata/finalizers/5', value: 'r' }],
    ['an index that is none', { op: 'replace', path: '/metadata/finalizers/01', value: 'r' }],
    ['an empty index', { op: 'add', path: '/metadata/finalizers/', value: 'r' }],
    ['a negative index', { op: 'add', path: '/metadata/finalizers/-1', value: 'r' }],
    ['half an index', { op: 'add', path: '/metadata/finalizers/0.5', value: 'r' }],
    ['an unknown operation', { op: 'merge', path: '/data/one' }],
    ['no path', { op: 'add', value: 1 }],
    ['an inherited key', { op: 'remove', path: '/kind/length' }],
    ['an inherited member of a missing parent', { op: 'add', path: '/nothing/toString/x', value: 1 }],
    ['an inherited member of an object', { op: 'add', path: '/metadata/hasOwnProperty/x', value: 1 }],
    ['an inherited member of a list', { op: 'add', path: '/metadata/finalizers/push/x', value: 1 }],
    ['an inherited member of a text', { op: 'add', path: '/kind/at/x', value: 1 }],
    ['a copy of what is inherited', { op: 'copy', from: '/toString', path: '/x' }],
    ['__proto__', { op: 'add', path: '/__proto__/polluted', value: 1 }],
    ['constructor', { op: 'replace', path: '/data/constructor', value: 1 }],
    ['constructor as a source', { op: 'copy', from: '/constructor/prototype', path: '/x' }],
  ])('a JSON patch is refused with 422 for %s', (_, operation) => {
    expect(codeOf([operation])).toBe(422);
    expect([
      ({} as Record<string, unknown>)['polluted'],
      Object.keys(Object.prototype),
      Object.keys(Array.prototype.push),
    ]).toEqual([undefined, [], []]);
  });

  test.each<[string, object, string]>([
    [
      'as the last key',
      { path: '/data/__proto__', value: '2' },
      '{"one":"1","toString":"own","__proto__":"2"}',
    ],
    [
      'inside a value',
      { path: '/data', value: JSON.parse('{"__proto__":{"a":1}}') as unknown },
      '{"__proto__":{"a":1}}',
    ],
  ])('a JSON patch treats __proto__ %s as a plain key', (_, operation, data) => {
    expect(JSON.stringify(jsonPatched(object, [{ op: 'add', ...operation }])['data'])).toBe(data);
  });

  test.each<[string, unknown, number]>([
    ['an object', {}, 400],
    ['a list of anything else', ['x'], 400],
    [
      'copies of copies',
      Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/${index}` })),
      422,
    ],
    [
      'more operations than the API server takes',
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
      413,
    ],
    [
      'more copies than anybody needs',
      Array.from({ length: 101 }, () => ({ op: 'copy', from: '/kind', path: '/data/a' })),
      413,
    ],
    ['a long path that leads nowhere', [{ op: 'add', path: '/a'.repeat(100_000), value: 1 }], 422],
    ['no object left', [{ op: 'replace', path: '/metadata', value: 'x' }], 400],
  ])('a JSON patch is refused for %s', (_, patch, code) => {
    expect(codeOf(patch)).toBe(code);
  });
});

test('a JSON patch changes neither the stored object nor the patch', () => {
  const patch = [
    { op: 'add', path: '/data', value: { a: 'b' } },
    { op: 'add', path: '/data/c', value: 'd' },
    { op: 'copy', from: '/data', path: '/metadata/annotations' },
    { op: 'remove', path: '/metadata/annotations/a' },
  ];
  const [objectBefore, patchBefore] = [structuredClone(object), structuredClone(patch)];
  const once = jsonPatched(object, patch);
  expect(once).toMatchObject({ data: { a: 'b', c: 'd' }, metadata: { annotations: { c: 'd' } } });
  expect(jsonPatched(object, patch)).toEqual(once);
  expect([object, patch]).toEqual([objectBefore, patchBefore]);
});
