// Tests the cache of one watch: the keys of objects in namespaces, and entries that are read again.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { ObjectCache, type CacheChange } from '../../../src/state/object-cache.ts';

function cacheOf() {
  const changes: CacheChange<string>[] = [];
  const cache = new ObjectCache<string>({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    read: (object) => String(object['text']),
    changed: (found) => changes.push(...found),
  });
  return { cache, changes };
}

function thing(namespace: string | undefined, name: string, text: string, version = '1'): KubeObject {
  const place = namespace === undefined ? {} : { namespace };
  const metadata = { ...place, name, uid: `${namespace ?? ''}-${name}`, resourceVersion: version };
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata, text };
}

test('objects of one name in two namespaces are two entries', () => {
  const { cache, changes } = cacheOf();
  cache.replaced([thing('a', 'x', 'one'), thing('b', 'x', 'two')]);
  expect([cache.get('a/x'), cache.get('b/x'), cache.get('x')]).toEqual(['one', 'two', undefined]);
  cache.changed(thing('b', 'x', 'three', '2'));
  cache.removed(thing('a', 'x', 'one'));
  expect(changes.map(({ name, before, after }) => [name, before, after])).toEqual([
    ['a/x', undefined, 'one'],
    ['b/x', undefined, 'two'],
    ['b/x', 'two', 'three'],
    ['a/x', 'one', undefined],
  ]);
});

test('a cluster-scoped object has its name as its key', () => {
  const { cache } = cacheOf();
  cache.changed(thing(undefined, 'x', 'one'));
  expect(cache.get('x')).toBe('one');
});

test('a list removes the entries of objects that it lacks, in that namespace alone', () => {
  const { cache } = cacheOf();
  cache.replaced([thing('a', 'x', 'one'), thing('b', 'x', 'two')]);
  cache.replaced([thing('b', 'x', 'two')]);
  expect([...cache.values()]).toEqual(['two']);
});

test('an entry that is read again is a change, and the object still counts as known', () => {
  const { cache, changes } = cacheOf();
  cache.replaced([thing('a', 'x', 'one'), thing('a', 'y', 'two')]);
  changes.length = 0;
  cache.reread((value) => (value === 'one' ? 'ONE' : undefined));
  cache.changed(thing('a', 'x', 'one'));
  expect(changes).toEqual([{ name: 'a/x', before: 'one', after: 'ONE' }]);
});

test('a list after a restore of etcd replaces entries of the same version', () => {
  const { cache } = cacheOf();
  cache.replaced([thing('a', 'x', 'lost')]);
  cache.replaced([thing('a', 'x', 'one')], '1');
  expect(cache.get('a/x')).toBe('lost');
  cache.replaced([thing('a', 'x', 'one')], '1', true);
  expect(cache.get('a/x')).toBe('one');
});
