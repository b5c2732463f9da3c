// Tests what the recorded answers of a real API server leave out: custom kinds, times and hostile keys.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { applied, withManagedFields } from '../../../../src/sandbox/patch/managed-fields.ts';
import {
  difference,
  intersection,
  isFieldsV1,
  shownFields,
  union,
} from '../../../../src/sandbox/patch/field-tree.ts';
import { kinds } from './kinds.ts';

type Manager = Parameters<typeof applied>[0]['manager'];

const widget = (spec: object, metadata: object = {}): KubeObject => ({
  metadata: { name: 'x', ...metadata },
  spec,
});

const by = (name: string, time = '2026-01-01T00:00:00Z'): Manager => ({ name, subresource: undefined, time });

const apply = (
  stored: KubeObject | undefined,
  wanted: KubeObject,
  manager = by('a'),
  force = false,
): KubeObject => applied({ resource: kinds.Widget, stored, applied: wanted, manager, force });

const timesOf = (object: KubeObject): unknown =>
  (object.metadata['managedFields'] as readonly { time?: string }[]).map(({ time }) => time);

const tcp = { port: 80, protocol: 'TCP', name: 'web' };
const udp = { port: 80, protocol: 'UDP', name: 'quic' };

test('an apply merges lists by all their keys, and merges sets', () => {
  const first = apply(undefined, widget({ ports: [tcp], tags: ['x'] }));
  const second = apply(first, widget({ ports: [udp], tags: ['y', 'x'] }), by('b'));
  expect(second['spec']).toEqual({ ports: [tcp, udp], tags: ['y', 'x'] });
  const third = apply(second, widget({ tags: [] }));
  expect(third['spec']).toEqual({ ports: [udp], tags: ['y', 'x'] });
  expect(() => apply(third, widget({ ports: [{ ...udp, name: 'n' }] }))).toThrow(
    'Apply failed with 1 conflict: conflict with "b": .spec.ports[port=80,protocol="UDP"].name',
  );
});

test('an apply replaces a list whose items have no keys as a whole', () => {
  const first = apply(undefined, widget({ ports: [tcp, tcp] }));
  expect(apply(first, widget({ ports: [{ name: 'no key' }] }))['spec']).toEqual({
    ports: [{ name: 'no key' }],
  });
});

test('an apply keeps the time of an entry when nothing changes', () => {
  const first = apply(undefined, widget({ a: 1 }));
  expect(timesOf(apply(first, widget({ a: 1 }), by('a', '2026-02-02T00:00:00Z')))).toEqual([
    '2026-01-01T00:00:00Z',
  ]);
  expect(timesOf(apply(first, widget({ a: 2 }), by('a', '2026-02-02T00:00:00Z')))).toEqual([
    '2026-02-02T00:00:00Z',
  ]);
});

test('an apply to the object keeps the status, and to the status keeps the rest', () => {
  const first = apply(undefined, { ...widget({ a: 1 }), status: { b: 1 } });
  expect(JSON.stringify(first.metadata['managedFields'])).not.toContain('f:status');
  const status = { ...by('s'), subresource: 'status' } as const;
  const second = apply(first, { ...widget({ a: 2 }), status: { b: 2 } }, status);
  const entries = second.metadata['managedFields'] as readonly { manager: string; fieldsV1: object }[];
  expect(entries.find(({ manager }) => manager === 's')?.fieldsV1).toEqual({ 'f:status': { 'f:b': {} } });
});

test('an apply treats hostile keys as plain keys', () => {
  const spec = JSON.parse('{"__proto__":{"polluted":1},"constructor":"c","a\\",\\"f:b":1}') as object;
  const first = apply(undefined, widget(spec));
  expect(JSON.stringify(first['spec'])).toBe(JSON.stringify(spec));
  expect(apply(first, widget({ b: 1 }))['spec']).toEqual({ b: 1 });
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('an entry of managedFields has the time of its last change', () => {
  const first = withManagedFields(kinds.Widget, widget({ a: 1, b: 1 }), undefined, by('a', '1'));
  const less = withManagedFields(kinds.Widget, widget({ a: 1 }), first, by('a', '2'));
  const more = withManagedFields(kinds.Widget, widget({ a: 2 }), less, by('a', '3'));
  expect([first, less, more].map(timesOf)).toEqual([['1'], ['2'], ['3']]);
});

describe('a list', () => {
  test.each([
    ['ab', 'xba', 'xba'],
    ['ab', 'xb', 'xb'],
    ['', 'ab', 'ab'],
  ])('%s gets the order of an apply of all its items: %s', (before, after, expected) => {
    const first = apply(undefined, widget({ tags: before.split('') }));
    expect(apply(first, widget({ tags: after.split('') }))['spec']).toEqual({ tags: expected.split('') });
  });

  test('a list with items of others gets new items at its end', () => {
    const first = apply(undefined, widget({ tags: ['a', 'b'] }));
    expect(apply(first, widget({ tags: ['c', 'b'] }), by('b'))['spec']).toEqual({ tags: ['a', 'b', 'c'] });
  });
});

describe('a set of fields', () => {
  const one = { 'f:a': { '.': {}, 'f:b': {}, 'k:{"p":1}': { '.': {}, 'f:p': {} } }, 'f:d': {} };
  const other = { 'f:a': { 'f:b': {}, 'f:c': {} }, 'f:d': { 'f:e': {} } };

  test('a set of fields supports union, intersection and difference', () => {
    expect(union(one, other)).toEqual({
      'f:a': { '.': {}, 'f:b': {}, 'f:c': {}, 'k:{"p":1}': { '.': {}, 'f:p': {} } },
      'f:d': { '.': {}, 'f:e': {} },
    });
    expect(intersection(one, other)).toEqual({ 'f:a': { 'f:b': {} } });
    expect(difference(other, one)).toEqual({ 'f:a': { 'f:c': {} }, 'f:d': { 'f:e': {} } });
    expect([difference(one, one), union(undefined, undefined)]).toEqual([undefined, undefined]);
  });

  test.each([[1], [{ a: {} }], [{ 'i:1': {} }], [{ 'f:a': 1 }], [{ 'f:a': { x: {} } }]])(
    '%j is none',
    (fields) => {
      expect(isFieldsV1(fields)).toBe(false);
    },
  );

  test('a set of fields is shown with the paths that conflicts name', () => {
    const set = { 'f:a': { 'k:{"p":1,"q":"r"}': { 'f:b/c': {} }, 'v:"x"': {} } };
    expect([isFieldsV1(set), shownFields(set)]).toEqual([true, ['.a[p=1,q="r"].b/c', '.a[="x"]']]);
  });
});
