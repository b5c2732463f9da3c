import { describe, expect, test } from 'vitest';
import { mergePatched } from '../../../../src/sandbox/patch/merge-patch.ts';

describe('a merge patch', () => {
  // The cases about objects of https://www.rfc-editor.org/rfc/rfc7396#appendix-A, one level deeper.
  test.each<[unknown, unknown, unknown]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j patched with %j', (spec, patch, expected) => {
    expect(mergePatched({ metadata: {}, spec }, { spec: patch })).toEqual({ metadata: {}, spec: expected });
  });

  test('a merge patch treats __proto__ as a plain key', () => {
    const patch: unknown = JSON.parse('{"data":{"__proto__":{"polluted":"1"},"constructor":"2"}}');
    const { data } = mergePatched({ metadata: {}, data: { a: '1' } }, patch);
    expect(JSON.stringify(data)).toBe('{"a":"1","__proto__":{"polluted":"1"},"constructor":"2"}');
    expect((data as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test.each([[[]], ['x'], [null], [{ metadata: 1 }]])('%j is refused', (patch) => {
    expect(() => mergePatched({ metadata: {} }, patch)).toThrow(
      expect.objectContaining({ name: 'ApiError' }),
    );
  });
});

test('a merge patch treats directives as plain members', () => {
  const patch = { data: { $patch: 'delete', '$setElementOrder/x': ['y'] } };
  expect(mergePatched({ metadata: {}, data: { a: '1' } }, patch)['data']).toEqual({ a: '1', ...patch.data });
});
