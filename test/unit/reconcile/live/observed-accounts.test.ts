// What the reconciler remembers of ServiceAccounts: which still have fields of Reeve, and what a user cannot make it remember.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { providerId } from '../../../../src/policy/terms/provider-id.ts';
import { ObservedAccounts } from '../../../../src/reconcile/live/observed-accounts.ts';
import { fieldsAnnotation, fieldsManager } from '../../../../src/schema/names.ts';

const apps = providerId('NamespacePolicy', 'apps');

/** As the API server stores an apply under the name of the manager of Reeve. */
function account(annotation: string, { version = 1, deleted = false, names = ['one'] } = {}): KubeObject {
  const owned = {
    'f:imagePullSecrets': {},
    'f:metadata': { 'f:annotations': { [`f:${fieldsAnnotation}`]: {} } },
  };
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: {
      name: 'default',
      namespace: 'shop',
      uid: 'u',
      resourceVersion: String(version),
      annotations: { [fieldsAnnotation]: annotation },
      managedFields: [{ manager: fieldsManager, operation: 'Apply', fieldsV1: owned }],
      ...(deleted ? { deletionTimestamp: '2026-11-21T12:00:00Z' } : {}),
    },
    imagePullSecrets: names.map((name) => ({ name })),
  };
}

function observed(...objects: readonly KubeObject[]): ObservedAccounts {
  const accounts = new ObservedAccounts();
  accounts.sink.replaced([], '1');
  for (const object of objects) accounts.sink.changed(object);
  return accounts;
}

const marksOf = (accounts: ObservedAccounts) => [...(accounts.markedIn('shop')[0]?.marks ?? [])];

test('an account that is being deleted holds up no provider', () => {
  const line = `${apps}: imagePullSecrets/one`;
  expect(observed(account(line)).holdsFieldsOf(apps, () => true)).toBe(true);
  expect(observed(account(line, { deleted: true })).holdsFieldsOf(apps, () => true)).toBe(false);
});

test('an account that lost its marks is still planned while the manager of Reeve owns a field of it', () => {
  const accounts = observed(account('nothing that Reeve wrote'));
  expect(marksOf(accounts)).toEqual([]);
  expect(accounts.markedIn('shop')).toHaveLength(1);
});

test.each([
  ['an item that the account does not have', `${apps}: imagePullSecrets/two`],
  ['a text that names no item', `${apps}: x`],
  ['a binding of another namespace', 'SecurityIntentBinding/victim/b: imagePullSecrets/one'],
])('a forged annotation with %s makes no mark', (_, annotation) => {
  expect(marksOf(observed(account(annotation)))).toEqual([]);
});

test('annotations that a user forges again and again do not add up', () => {
  const names = (version: number) => Array.from({ length: 1000 }, (_, index) => `s${version}-${index}`);
  const forged = [1, 2, 3].map((version) => {
    const items = names(version).map((name) => `imagePullSecrets/${name}`);
    return account(`${apps}: ${items.join(', ')}`, { version, names: names(version) });
  });
  expect(marksOf(observed(...forged))).toHaveLength(100);
});
