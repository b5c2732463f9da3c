import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { MemoryStore } from '../../../src/sandbox/store.ts';
import type { Change } from '../../../src/sandbox/store.ts';
import { configMap, configMaps, namespaces, secrets } from './read/reading.ts';

function stored(object: KubeObject | undefined): KubeObject {
  if (object === undefined) throw new Error('another object stands there');
  return object;
}

function put(store: MemoryStore, namespace: string, name: string): KubeObject {
  const before = store.get(configMaps, namespace, name);
  return stored(store.put(configMaps, configMap(namespace, name), before));
}

describe('objects', () => {
  test('objects are stored with a new resourceVersion, whatever they contained', () => {
    const store = new MemoryStore();
    const object = {
      ...configMap('team', 'a'),
      metadata: { namespace: 'team', name: 'a', resourceVersion: '7' },
    };
    const answer = stored(store.put(configMaps, object, undefined));
    expect(answer.metadata).toEqual({ namespace: 'team', name: 'a', resourceVersion: '1001' });
    expect(store.get(configMaps, 'team', 'a')).toBe(answer);
    expect(store.revision).toBe(1001);
    expect(object.metadata.resourceVersion).toBe('7');
  });

  test('objects of different kinds and namespaces are separate', () => {
    const store = new MemoryStore();
    put(store, 'team', 'a');
    expect(store.get(secrets, 'team', 'a')).toBeUndefined();
    expect(store.get(configMaps, 'other', 'a')).toBeUndefined();
    stored(store.put(namespaces, { metadata: { name: 'team' } }, undefined));
    expect(store.get(namespaces, undefined, 'team')?.metadata.resourceVersion).toBe('1002');
    expect(store.list(namespaces)).toHaveLength(1);
  });

  test('objects are replaced and removed only by a caller that has read the latest one', () => {
    const store = new MemoryStore();
    const first = put(store, 'team', 'a');
    const second = put(store, 'team', 'a');
    expect(store.put(configMaps, configMap('team', 'a'), first)).toBeUndefined();
    expect(store.put(configMaps, configMap('team', 'a'), undefined)).toBeUndefined();
    expect(store.put(configMaps, configMap('team', 'b'), second)).toBeUndefined();
    expect(store.remove(configMaps, first)).toBeUndefined();
    expect(store.revision).toBe(1002);
    expect(store.remove(configMaps, second)).toEqual({
      ...second,
      metadata: { ...second.metadata, resourceVersion: '1003' },
    });
    expect(store.get(configMaps, 'team', 'a')).toBeUndefined();
    expect(store.remove(configMaps, second)).toBeUndefined();
  });

  test('objects may have the names of properties of every JavaScript object', () => {
    const store = new MemoryStore();
    put(store, '__proto__', 'constructor');
    expect(store.get(configMaps, '__proto__', 'toString')).toBeUndefined();
    expect(store.list(configMaps, '__proto__')).toHaveLength(1);
  });

  test('objects are listed in the order of their keys, whatever the order of their creation', () => {
    const store = new MemoryStore();
    const names = ['team/b', 'team-x/a', 'team/a', 'team0/a', 'a/z', 'team/c'];
    for (const [namespace = '', name = ''] of names.map((text) => text.split('/')))
      put(store, namespace, name);
    stored(store.remove(configMaps, stored(store.get(configMaps, 'team', 'b'))));
    const listed = (namespace?: string): readonly string[] =>
      store.list(configMaps, namespace).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(listed()).toEqual(['a/z', 'team-x/a', 'team/a', 'team/c', 'team0/a']);
    expect(listed('team')).toEqual(['team/a', 'team/c']);
    expect(listed('nobody')).toEqual([]);
  });
});

describe('changes', () => {
  const shown = ({ type, object, before, revision }: Change): string =>
    `${revision} ${type} ${object.metadata.name} ${String(before?.metadata['resourceVersion'])}`;

  test('changes are announced in order, also when a listener makes another change', () => {
    const store = new MemoryStore();
    const seen: string[] = [];
    store.subscribe((change) => {
      if (change.object.metadata.name !== 'a') return;
      put(store, 'team', 'follower');
      // Subscribed after both changes, the second is not yet announced.
      store.subscribe((later) => seen.push(`late ${shown(later)}`));
    });
    const stop = store.subscribe((change) => seen.push(shown(change)));
    put(store, 'team', 'a');
    expect(seen).toEqual(['1001 added a undefined', '1002 added follower undefined']);
    stop();
    stored(store.remove(configMaps, stored(store.get(configMaps, 'team', 'follower'))));
    expect(seen.slice(2)).toEqual(['late 1003 deleted follower 1002']);
  });

  test('changes are kept up to a limit', () => {
    const store = new MemoryStore(2);
    expect(store.since(1000)).toEqual([]);
    for (const name of ['a', 'b', 'a']) put(store, 'team', name);
    expect(store.since(1000)).toBeUndefined();
    expect(store.since(1001)?.map(shown)).toEqual(['1002 added b undefined', '1003 modified a 1001']);
    expect(store.since(1003)).toEqual([]);
    expect(store.since(1099)).toEqual([]);
  });
});
