import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { mergePatched } from '../../../../src/sandbox/patch/merge-patch.ts';
import { kinds } from './kinds.ts';

const object: KubeObject = {
  metadata: {
    name: 'x',
    labels: { a: '1', b: '2' },
    finalizers: ['p', 'q'],
    ownerReferences: [
      { uid: '1', name: 'one' },
      { uid: '2', name: 'two' },
    ],
  },
  secrets: [{ name: 's' }, { name: 't' }],
  subjects: [{ name: 'ann' }],
};

const owners = (...uids: string[]): object[] =>
  uids.map((uid) => ({ uid, name: uid === '1' ? 'one' : 'two' }));

describe('a strategic merge patch', () => {
  test.each<[string, object, object]>([
    [
      'merges maps',
      { metadata: { labels: { a: null, c: '3' } } },
      { metadata: { labels: { b: '2', c: '3' } } },
    ],
    [
      'replaces a map',
      { metadata: { labels: { $patch: 'replace', c: '3' } } },
      { metadata: { labels: { c: '3' } } },
    ],
    [
      'adds to a set',
      { metadata: { finalizers: ['r', 'p'] } },
      { metadata: { finalizers: ['p', 'q', 'r'] } },
    ],
    [
      'takes from a set',
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['p'] } },
      { metadata: { finalizers: ['q'] } },
    ],
    [
      'orders a set',
      { metadata: { '$setElementOrder/finalizers': ['r', 'q', 'p'], finalizers: ['r'] } },
      { metadata: { finalizers: ['r', 'q', 'p'] } },
    ],
    [
      'merges items by their key',
      {
        metadata: {
          ownerReferences: [
            { uid: '2', name: 'zwei' },
            { uid: '3', name: 'three' },
          ],
        },
      },
      {
        metadata: {
          ownerReferences: [...owners('1'), { uid: '2', name: 'zwei' }, { uid: '3', name: 'three' }],
        },
      },
    ],
    [
      'removes an item',
      { metadata: { ownerReferences: [{ uid: '1', $patch: 'delete' }] } },
      { metadata: { ownerReferences: owners('2') } },
    ],
    [
      'orders items',
      { metadata: { '$setElementOrder/ownerReferences': [{ uid: '2' }, { uid: '1' }] } },
      { metadata: { ownerReferences: owners('2', '1') } },
    ],
    [
      'replaces a list with a key',
      { secrets: [{ name: 'u' }, { $patch: 'replace' }] },
      { secrets: [{ name: 'u' }] },
    ],
    ['replaces a list without', { subjects: [{ name: 'bob' }] }, { subjects: [{ name: 'bob' }] }],
    ['adds a map', { data: { a: '1', b: null } }, { data: { a: '1' } }],
  ])('%s', (_, patch, expected) => {
    expect(mergePatched(object, patch, kinds.ServiceAccount)).toMatchObject(expected);
  });

  test.each<[string, object | null]>([
    ['labels', { $patch: 'delete' }],
    ['finalizers', null],
  ])('a strategic merge patch removes the %s', (field, patch) => {
    const { metadata } = mergePatched(object, { metadata: { [field]: patch } }, kinds.ServiceAccount);
    expect(Object.keys(metadata)).toEqual(Object.keys(object.metadata).filter((name) => name !== field));
  });

  test('a strategic merge patch treats hostile keys as plain keys', () => {
    const patch: unknown = JSON.parse('{"data":{"__proto__":{"polluted":"1"},"toString":{"a":"2"}}}');
    const { data } = mergePatched(object, patch, kinds.ConfigMap);
    expect(JSON.stringify(data)).toBe('{"__proto__":{"polluted":"1"},"toString":{"a":"2"}}');
  });
});
