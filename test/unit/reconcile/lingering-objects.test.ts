import { beforeEach, expect, test } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../../src/api/kube-object.ts';
import { managedByLabel, ownerAnnotation } from '../../../src/api/names.ts';
import type { WatchSink } from '../../../src/api/watch-sink.ts';
import { observeSecretMetadata } from '../../../src/policy/contents/observed.ts';
import { ObservedObjects, type ObservedChange } from '../../../src/reconcile/observed-objects.ts';

const type = { apiVersion: 'v1', kind: 'Secret' };
const key = '/Secret/s';

function secret(version: number, metadata: ObjectMeta = {}): KubeObject {
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
  };
}

const deletionTimestamp = '2026-11-21T12:00:00Z';

let changes: ObservedChange[];
let objects: ObservedObjects;
let sink: WatchSink;

beforeEach(() => {
  changes = [];
  objects = new ObservedObjects(
    (change) => changes.push(change),
    () => undefined,
  );
  sink = objects.sink(type, observeSecretMetadata);
  sink.replaced([], '1');
  sink.changed(secret(5));
});

function deleted(): void {
  const live = objects.get('n', key);
  if (live !== undefined) objects.deleted(live);
}

test('an object that lingers before our deletion of it is answered stays known until it is gone', () => {
  const live = objects.get('n', key);
  sink.changed(secret(6, { deletionTimestamp }));
  if (live !== undefined) objects.deleted(live);
  expect(objects.get('n', key)?.isTerminating).toBe(true);
  sink.removed(secret(7, { deletionTimestamp }));
  expect(objects.get('n', key)).toBeUndefined();
  expect(changes.at(-1)).toMatchObject({ from: 'watch', before: { uid: 'u1' } });
});

test('the end of what we have deleted is told', () => {
  deleted();
  expect(changes.at(-1)).toMatchObject({ from: 'own' });
  sink.removed(secret(6));
  expect(changes.at(-1)).toMatchObject({ from: 'watch', before: { uid: 'u1' }, after: undefined });
});

test('it is told as well when only a list shows it', () => {
  deleted();
  sink.replaced([], '9');
  expect(changes.at(-1)).toMatchObject({ from: 'watch', before: { uid: 'u1' }, after: undefined });
});

test('it is not told when the next object of the name is there already', () => {
  deleted();
  sink.changed(secret(8, { uid: 'u2' }));
  sink.removed(secret(7));
  expect(objects.get('n', key)?.uid).toBe('u2');
  expect(changes.at(-1)).toMatchObject({ after: { uid: 'u2' } });
});
