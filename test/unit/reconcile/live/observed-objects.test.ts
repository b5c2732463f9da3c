import { beforeEach, describe, expect, test } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../../../src/base/metadata.ts';
import { managedByLabel, ownerAnnotation } from '../../../../src/schema/names.ts';
import type { WatchSink } from '../../../../src/base/watch-sink.ts';
import { secretObjectType } from '../../../../src/base/object-type.ts';
import { observeObject } from '../../../../src/policy/plan/observed.ts';
import { ObservedObjects, type ObservedChange } from '../../../../src/reconcile/live/observed-objects.ts';

const type = { apiVersion: 'v1', kind: 'Secret' };
const key = '/Secret/s';

function secret(version: number, metadata: ObjectMeta = {}, data: object = { k: 'djE=' }): KubeObject {
  return {
    ...type,
    metadata: {
      name: 's',
      namespace: 'n',
      uid: 'u1',
      resourceVersion: String(version),
      labels: { [managedByLabel]: 'reeve' },
      annotations: { [ownerAnnotation]: 'SecretShare/x' },
      ...metadata,
    },
    type: 'Opaque',
    data,
  };
}

let changes: ObservedChange[];
let objects: ObservedObjects;
let sink: WatchSink;

beforeEach(() => {
  changes = [];
  objects = new ObservedObjects();
  objects.subscribe({ changed: (change) => changes.push(change) });
  sink = objects.sink(type);
  sink.replaced([], '1');
});

const versionOf = () => objects.get('n', key)?.resourceVersion;
const contentOf = () => objects.get('n', key)?.content.kind;

describe('observed objects', () => {
  test('the last event of a watch counts', () => {
    sink.changed(secret(5));
    sink.changed(secret(7));
    expect(versionOf()).toBe('7');
    sink.removed(secret(8));
    expect(objects.get('n', key)).toBeUndefined();
    expect(changes.map(({ from }) => from)).toEqual(['watch', 'watch', 'watch']);
  });

  test('an event with an older version is ignored', () => {
    sink.changed(secret(10));
    sink.changed(secret(9));
    expect(versionOf()).toBe('10');
  });

  test('our own write counts at once, and its watch event changes nothing', () => {
    objects.wrote(observeObject(secretObjectType, secret(5)));
    expect(contentOf()).toBe('copy');
    sink.changed(secret(5));
    expect(changes.map(({ from }) => from)).toEqual(['own']);
    expect(contentOf()).toBe('copy');
  });

  test('the answer to our own write is ignored when the watch has a newer version', () => {
    sink.changed(secret(6));
    objects.wrote(observeObject(secretObjectType, secret(5)));
    expect(versionOf()).toBe('6');
  });

  test('an object that was deleted before the answer to its creation arrived stays deleted', () => {
    sink.changed(secret(5));
    sink.removed(secret(6));
    objects.wrote(observeObject(secretObjectType, secret(5)));
    expect(objects.get('n', key)).toBeUndefined();
  });

  test('the content that was read is kept until the object changes', () => {
    sink.changed(secret(5));
    expect(contentOf()).toBe('unread');
    objects.read(observeObject(secretObjectType, secret(5)));
    expect(contentOf()).toBe('copy');
    sink.changed(secret(6));
    expect(contentOf()).toBe('unread');
  });

  test('the answer to a read does not add an unknown object', () => {
    objects.read(observeObject(secretObjectType, secret(5)));
    expect(objects.get('n', key)).toBeUndefined();
  });

  test('an object that we deleted stays deleted when older events arrive', () => {
    sink.changed(secret(5));
    const live = objects.get('n', key);
    if (live !== undefined) objects.deleted(live);
    sink.changed(secret(6));
    expect(objects.get('n', key)).toBeUndefined();
    sink.removed(secret(7));
    sink.changed(secret(9, { uid: 'u2' }));
    expect(versionOf()).toBe('9');
  });

  test('an object that we deleted is tracked again when a finalizer keeps it', () => {
    sink.changed(secret(5));
    const live = objects.get('n', key);
    if (live !== undefined) objects.deleted(live);
    sink.changed(secret(6, { deletionTimestamp: '2026-11-21T12:00:00Z' }));
    expect(objects.get('n', key)?.isTerminating).toBe(true);
  });

  test('the deletion event of an older object of the same name is ignored', () => {
    sink.changed(secret(5));
    objects.wrote(observeObject(secretObjectType, secret(9, { uid: 'u2' })));
    sink.removed(secret(8));
    expect(versionOf()).toBe('9');
  });

  test('a list removes objects that it lacks, except newer ones', () => {
    sink.changed(secret(5));
    sink.changed(secret(6, { name: 'other', uid: 'u2' }));
    objects.wrote(observeObject(secretObjectType, secret(20, { name: 'new', uid: 'u3' })));
    sink.replaced([secret(6, { name: 'other', uid: 'u2' })], '15');
    expect(objects.ours('n').map(({ name }) => name)).toEqual(['other', 'new']);
  });

  test('a list that is older than our deletion does not bring the object back', () => {
    sink.changed(secret(5));
    const live = objects.get('n', key);
    if (live !== undefined) objects.deleted(live);
    sink.replaced([secret(5)], '6');
    expect(objects.get('n', key)).toBeUndefined();
  });

  test('objects of a provider are counted by namespace, without objects that are being deleted', () => {
    sink.changed(secret(5));
    sink.changed(secret(6, { namespace: 'm', uid: 'u2' }));
    sink.changed(secret(7, { namespace: 'm', name: 't', uid: 'u3' }));
    expect([...objects.countsOf('SecretShare/x')]).toEqual([
      ['n', 1],
      ['m', 2],
    ]);
    sink.changed(secret(8, { namespace: 'm', uid: 'u2', deletionTimestamp: '2026-11-21T12:00:00Z' }));
    sink.changed(secret(9, { annotations: { [ownerAnnotation]: 'SecretShare/y' } }));
    expect([...objects.countsOf('SecretShare/x')]).toEqual([['m', 1]]);
    expect([...objects.countsOf('SecretShare/y')]).toEqual([['n', 1]]);
  });

  test('a watch of a single name syncs this name alone', () => {
    const [a, b] = ['a', 'b'].map((name) => objects.sink({ apiVersion: 'v1', kind: 'ConfigMap' }, name));
    a?.replaced([], '5');
    expect(objects.isKnown({ type: { apiVersion: 'v1', kind: 'ConfigMap' }, name: 'a' })).toBe(true);
    expect(objects.isKnown({ type: { apiVersion: 'v1', kind: 'ConfigMap' }, name: 'b' })).toBe(false);
    b?.replaced([], '5');
    expect(objects.isKnown({ type: { apiVersion: 'v1', kind: 'ConfigMap' }, name: 'c' })).toBe(false);
  });

  test('neither the payload nor its copy in the annotation of kubectl apply is kept', () => {
    const annotations = {
      [ownerAnnotation]: 'SecretShare/x',
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"k":"Y2FuYXJ5"}}',
    };
    objects.wrote(observeObject(secretObjectType, secret(5, { annotations }, { k: 'Y2FuYXJ5' })));
    expect(JSON.stringify(objects.get('n', key))).not.toContain('Y2FuYXJ5');
  });
});

describe('an object that we deleted', () => {
  const deletionTimestamp = '2026-11-21T12:00:00Z';

  beforeEach(() => sink.changed(secret(5)));

  function deleted(): void {
    const live = objects.get('n', key);
    if (live !== undefined) objects.deleted(live);
  }

  test('an object that is terminating before our deletion is answered stays known until its end', () => {
    const live = objects.get('n', key);
    sink.changed(secret(6, { deletionTimestamp }));
    if (live !== undefined) objects.deleted(live);
    expect(objects.get('n', key)?.isTerminating).toBe(true);
    sink.removed(secret(7, { deletionTimestamp }));
    expect(objects.get('n', key)).toBeUndefined();
    expect(changes.at(-1)).toMatchObject({ from: 'watch', before: { uid: 'u1' } });
  });

  test('listeners hear of the end of an object that we deleted', () => {
    deleted();
    expect(changes.at(-1)).toMatchObject({ from: 'own' });
    sink.removed(secret(6));
    expect(changes.at(-1)).toMatchObject({ from: 'watch', before: { uid: 'u1' }, after: undefined });
  });

  test('listeners hear of the end also when only a list shows it', () => {
    deleted();
    sink.replaced([], '9');
    expect(changes.at(-1)).toMatchObject({ from: 'watch', before: { uid: 'u1' }, after: undefined });
  });

  test('listeners do not hear of the end when the next object of the name exists already', () => {
    deleted();
    sink.changed(secret(8, { uid: 'u2' }));
    sink.removed(secret(7));
    expect(objects.get('n', key)?.uid).toBe('u2');
    expect(changes.at(-1)).toMatchObject({ after: { uid: 'u2' } });
  });
});

test.for([
  ['30', true],
  ['70', false],
] as const)(
  'after a restore of etcd, a list at %s with older objects replaces everything that is known of objects',
  ([listedAt, isRestored]) => {
    const metadata = { annotations: {}, labels: {} };
    sink.changed(secret(50, metadata));
    sink.changed(secret(60, { ...metadata, name: 't', uid: 'u2' }));
    const versions = () => ['s', 't'].map((name) => objects.get('n', `/Secret/${name}`)?.resourceVersion);
    expect(versions()).toEqual(['50', '60']);
    sink.replaced([secret(20, metadata)], listedAt, isRestored);
    expect(versions()).toEqual(['20', undefined]);
    sink.changed(secret(71, metadata));
    expect(versions()).toEqual(['71', undefined]);
  },
);
