import { kindDefinitions } from '../../../../src/api/kinds.ts';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { coreEventKind, newEventKind, mirroringEvents } from '../../../../src/sandbox/kinds/plain-kinds.ts';
import { kindsServedFrom } from '../../../../src/sandbox/kinds/served-kinds.ts';
import { MemoryStore } from '../../../../src/sandbox/store.ts';
import { allKinds, causesOf, kindNamed } from './served.ts';

test('the kinds of Reeve are served while their definitions are stored', () => {
  const kinds = kindsServedFrom(new MemoryStore(), kindDefinitions);
  expect(kinds.find('reeve.dev', 'v1alpha1', 'secretshares')).toBeUndefined();
  expect(kinds.ofKind('v1', 'Secret')?.plural).toBe('secrets');
  expect(allKinds.find('reeve.dev', 'v1alpha1', 'secretshares')?.shortNames).toStrictEqual(['sshare']);
  expect(allKinds.ofKind('reeve.dev/v1alpha1', 'NamespacePolicy')?.categories).toStrictEqual(['reeve']);
  expect(allKinds.all().length - kinds.all().length).toBe(2);
});

test.for([
  [
    'Namespace',
    { 'metadata/finalizers': [], 'metadata/ownerReferences': ['uid'], 'status/conditions': ['type'] },
  ],
  ['ValidatingWebhookConfiguration', { webhooks: ['name'], 'webhooks/*/matchConditions': ['name'] }],
  ['ServiceAccount', { secrets: ['name'] }],
  ['SecretShare', { 'spec/target/keys': ['to'], 'status/conditions': ['type'] }],
] as const)('the lists of a %s are merged by the keys %j', ([kind, keys]) => {
  expect(kindNamed(kind).listKeys).toMatchObject(keys);
});

test.for([
  ['Secret', { type: 'Opaque', data: { a: '', b: '' } }, ['Opaque', 2, '']],
  ['ResourceQuota', { spec: { hard: { pods: '2' } } }, ['', '', '']],
  [
    'RoleBinding',
    {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', namespace: 'n', name: 's' },
      ],
    },
    ['Role/r', '', 'u', '', 'n/s'],
  ],
  ['NetworkPolicy', { spec: { podSelector: {} } }, ['<none>', '']],
  [
    'NetworkPolicy',
    {
      spec: {
        podSelector: {
          matchLabels: { a: 'b' },
          matchExpressions: [{ key: 'f', operator: 'DoesNotExist' }],
        },
      },
    },
    ['a=b,{"key":"f","operator":"DoesNotExist"}', ''],
  ],
  ['ValidatingAdmissionPolicy', { spec: { validations: [{}] } }, [1, '', '']],
  [
    'ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', paramRef: { name: 'x' } } },
    ['p', 'x', ''],
  ],
] as const)('the cells of the %s %j are %j', ([kind, object, cells]) => {
  expect(kindNamed(kind).columns.map((column) => column.cell({ metadata: {}, ...object }))).toStrictEqual(
    cells,
  );
});

test.for([
  ['Secret', {}, ['Required metadata.name']],
  ['Secret', { name: 'A' }, ['Invalid metadata.name']],
  ['Secret', { name: 'a-x', generateName: 'a-' }, []],
  ['Namespace', { name: 'a.b' }, ['Invalid metadata.name']],
  ['RoleBinding', { name: 'system:a' }, []],
  ['RoleBinding', { name: 'a/b' }, ['Invalid metadata.name']],
  ['RoleBinding', { name: '..' }, ['Invalid metadata.name']],
  [
    'ConfigMap',
    { name: 'a', labels: { 'a b': 'c d' } },
    ['Invalid metadata.labels', 'Invalid metadata.labels'],
  ],
  ['ConfigMap', { name: 'a', annotations: { 'ex.io/A': 'x', 'a b': 'x' } }, ['Invalid metadata.annotations']],
  ['ConfigMap', { name: 'a', finalizers: ['foo', 'a.io/b', 'x y'] }, ['Invalid metadata.finalizers']],
  [
    'ConfigMap',
    { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: '' }] },
    ['Invalid metadata.ownerReferences.uid'],
  ],
] as const)('the causes of a %s with metadata %j are %j', ([kind, metadata, causes]) => {
  expect(causesOf(kind, { metadata, roleRef: { kind: 'Role', name: 'r' } })).toStrictEqual(causes);
});

test.for([
  [
    { name: 'a', namespace: 'u' },
    { name: 'b', namespace: 'v' },
    ['Invalid metadata.name', 'Invalid metadata.namespace'],
  ],
  [
    { name: 'a', deletionTimestamp: 't' },
    { name: 'a', deletionTimestamp: 't', finalizers: ['a.io/b'] },
    ['Forbidden metadata.finalizers'],
  ],
] as const)('the causes of metadata that changes from %j to %j are %j', ([before, after, causes]) => {
  expect(causesOf('ConfigMap', { metadata: after }, { metadata: before })).toStrictEqual(causes);
});

test('an event is read, changed and removed under both of its groups', () => {
  const store = mirroringEvents(new MemoryStore());
  const metadata = { namespace: 'n', name: 'e' };
  const event: KubeObject = { apiVersion: 'v1', kind: 'Event', metadata, message: 'hi' };
  const put = store.put(coreEventKind, event, undefined);
  const newer = store.get(newEventKind, 'n', 'e');
  expect(newer).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'hi' });
  expect(store.get(coreEventKind, 'n', 'e')).toBe(put);
  expect(store.put(newEventKind, { ...event, ...newer, deprecatedCount: 2 }, newer)).toBeDefined();
  const changed = store.get(coreEventKind, 'n', 'e');
  expect(changed).toMatchObject({ message: 'hi', count: 2 });
  if (changed !== undefined) store.remove(coreEventKind, changed);
  expect(store.list(newEventKind)).toStrictEqual([]);
});
