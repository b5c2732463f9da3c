// Whose an object is, read from its labels and annotations, and the mark of an object that a provider leaves behind.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { ownershipOf } from '../../../../src/policy/plan/observed.ts';
import { orphanMetadata } from '../../../../src/policy/plan/remainder.ts';

const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
const offered = (metadata: KubeObject['metadata'], more: object = {}): boolean =>
  ownershipOf(account, { ...account, metadata, ...more }).isOffered;

test.for<readonly [string, boolean, boolean]>([
  ['the untouched ServiceAccount default may be taken over', true, offered({ name: 'default' })],
  ['another ServiceAccount may not', false, offered({ name: 'builder' })],
  ['one with a label may not', false, offered({ name: 'default', labels: { a: 'b' } })],
  ['one with an annotation may not', false, offered({ name: 'default', annotations: { a: 'b' } })],
  [
    'one with a pull secret may not',
    false,
    offered({ name: 'default' }, { imagePullSecrets: [{ name: 'x' }] }),
  ],
  [
    'one with another value of the label for adoption may not',
    false,
    offered({ name: 'default', labels: { 'reeve.dev/adopt': 'false' } }),
  ],
])('%s', ([, expected, found]) => {
  expect(found).toBe(expected);
});

test('the ServiceAccount default is never deleted, even if Reeve owns it or it was handed over for good', () => {
  const labels = { 'app.kubernetes.io/managed-by': 'reeve', 'reeve.dev/adopt': 'delete' };
  const annotations = { 'reeve.dev/owner': 'NamespacePolicy/p' };
  const metadata = { name: 'default', labels, annotations };
  expect(ownershipOf(account, { ...account, metadata })).toMatchObject({
    owner: 'NamespacePolicy/p',
    isDeletable: false,
  });
});

test('the mark of an orphan names its provider', () => {
  expect(orphanMetadata('SecretShare/regcred', { adoptionMark: 'true' })).toMatchObject({
    labels: { 'app.kubernetes.io/managed-by': null, 'reeve.dev/orphaned-from': 'regcred' },
    annotations: { 'reeve.dev/owner': null, 'reeve.dev/orphaned-from': 'SecretShare/regcred' },
  });
});

test.each(['zzz', 'Pod/p', 'NamespacePolicy/', 'NamespacePolicy/no name', `SecretShare/${'a'.repeat(64)}`])(
  'the annotation %s names no owner',
  (owner) => {
    const labels = { 'app.kubernetes.io/managed-by': 'reeve' };
    const metadata = { name: 'x', labels, annotations: { 'reeve.dev/owner': owner } };
    expect(ownershipOf(account, { ...account, metadata })).toMatchObject({
      owner: undefined,
      lacksOwner: true,
    });
  },
);

test('no provider may take over an object with a finalizer, offered or left behind', () => {
  const labels = { 'reeve.dev/adopt': 'true', 'reeve.dev/orphaned-from': 'p' };
  const annotations = { 'reeve.dev/orphaned-from': 'NamespacePolicy/p' };
  const metadata = { name: 'x', labels, annotations };
  const of = (finalizers: readonly string[]) =>
    ownershipOf(account, { ...account, metadata: { ...metadata, finalizers } });
  expect(of([])).toMatchObject({ isHeld: false, isOffered: true, orphanedFrom: 'NamespacePolicy/p' });
  expect(of(['example.com/hold'])).toMatchObject({ isHeld: true, isOffered: false, orphanedFrom: undefined });
});
