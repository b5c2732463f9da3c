// A write is a request that changed a resourceVersion, and each is counted once.
import { expect, test } from 'vitest';
import { AuditParser, writesOf } from '../../cluster/audit-record.ts';
import type { AuditRecord } from '../../cluster/audit-record.ts';

type Json = Readonly<Record<string, unknown>>;

function event(verb: string, responseObject?: Json, changes: Json = {}): Json {
  return {
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/a/secrets/s',
    verb,
    user: { username: 'reeve' },
    objectRef: { resource: 'secrets', namespace: 'a', name: 's' },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: '2026-01-01T00:00:00Z',
    ...(responseObject === undefined ? {} : { responseObject }),
    ...changes,
  };
}

function secret(resourceVersion: string, metadata: Json = {}): Json {
  return { kind: 'Secret', metadata: { uid: 'u1', resourceVersion, ...metadata } };
}

const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const waiting = { ...deleting, finalizers: ['a/b'] };
const success = { kind: 'Status', status: 'Success' };

function read(events: readonly Json[]): readonly AuditRecord[] {
  const parser = new AuditParser();
  return events.map((one) => parser.parse(JSON.stringify(one)));
}

test.for([
  ['a create', [event('create', secret('1'))], [1]],
  ['an update', [event('create', secret('1')), event('update', secret('2'))], [1, 1]],
  ['a patch that changes nothing', [event('create', secret('1')), event('patch', secret('1'))], [1, 0]],
  [
    'the same version of another object',
    [event('create', secret('1')), event('create', secret('1', { uid: 'u2' }))],
    [1, 1],
  ],
  ['responses in another order', [event('patch', secret('3')), event('patch', secret('2'))], [1, 1]],
  ['a delete', [event('delete', success)], [1]],
  [
    'a delete that answers with the object',
    [event('create', secret('1')), event('delete', secret('2'))],
    [1, 1],
  ],
  ['a delete that waits', [event('create', secret('1')), event('delete', secret('2', waiting))], [1, 1]],
  ['a second delete', [event('delete', secret('2', waiting)), event('delete', secret('2', waiting))], [1, 0]],
  [
    'the last finalizer taken away',
    [event('delete', secret('2', waiting)), event('patch', secret('2', deleting))],
    [1, 1],
  ],
  [
    'a namespace finalized',
    [
      event('delete', {
        kind: 'Namespace',
        spec: { finalizers: ['kubernetes'] },
        ...secret('2', deleting),
      }),
      event('update', { kind: 'Namespace', spec: {}, ...secret('2', deleting) }),
    ],
    [1, 1],
  ],
  [
    'a namespace not yet finalized',
    [
      event('delete', { ...secret('2', deleting), spec: { finalizers: ['kubernetes'] } }),
      event('update', { ...secret('2', deleting), spec: { finalizers: ['kubernetes'] } }),
    ],
    [1, 0],
  ],
  [
    'a collection',
    [event('deletecollection', { kind: 'SecretList', items: [secret('1'), secret('2')] })],
    [2],
  ],
  ['an empty collection', [event('deletecollection', { kind: 'SecretList', items: [] })], [0]],
  ['a read', [event('get')], [0]],
  ['a review', [event('create', { kind: 'SubjectAccessReview', metadata: {} })], [0]],
  ['a refusal', [event('create', { kind: 'Status' }, { responseStatus: { code: 409 } })], [0]],
  ['a failed delete', [event('delete', { kind: 'Status' }, { responseStatus: { code: 404 } })], [0]],
  ['a panic', [event('create', secret('1'), { stage: 'Panic' })], [0]],
  [
    'a dry run',
    [event('create', secret('1'), { requestURI: '/api/v1/namespaces/a/secrets?dryRun=All' })],
    [0],
  ],
  ['a dry run in the body', [event('delete', success, { requestObject: { dryRun: ['All'] } })], [0]],
  [
    'a create of an object with a field called dryRun',
    [event('create', secret('1'), { requestObject: { dryRun: ['x'] } })],
    [1],
  ],
] as const)('the record counts the changes of %s', ([, events, changes]) => {
  expect(read(events).map((record) => record.changes)).toEqual(changes);
});

test('a record says who did what', () => {
  const [record] = read([
    event(
      'create',
      { metadata: { name: 'generated', uid: 'u', resourceVersion: '1' } },
      {
        user: { username: 'boss' },
        impersonatedUser: { username: 'jane', groups: ['team'] },
        userAgent: 'kubectl',
        objectRef: { resource: 'roles', apiGroup: 'rbac.authorization.k8s.io', namespace: 'a' },
        annotations: { k: 'v' },
      },
    ),
  ]);
  expect(record).toEqual({
    user: 'jane',
    authenticatedAs: 'boss',
    groups: ['team'],
    userAgent: 'kubectl',
    verb: 'create',
    resource: 'roles.rbac.authorization.k8s.io',
    subresource: '',
    namespace: 'a',
    name: 'generated',
    uri: '/api/v1/namespaces/a/secrets/s',
    stage: 'ResponseComplete',
    status: 200,
    isDryRun: false,
    receivedAt: '2026-01-01T00:00:00Z',
    annotations: { k: 'v' },
    changes: 1,
  });
});

test('a request that is about no resource has empty names', () => {
  const { objectRef: _, ...bare } = event('get');
  expect(read([bare])[0]).toMatchObject({ resource: '', namespace: '', name: '' });
});

test('writes are selected by user, resource and namespace', () => {
  const records = read([
    event('create', secret('1')),
    event('create', secret('2', { uid: 'u2' }), { user: { username: 'jane' } }),
    event('deletecollection', { items: [{}, {}, {}] }),
    event('patch', secret('1')),
  ]);
  const [one, ofJane, three] = records;
  expect(writesOf(records)).toEqual([one, ofJane, three]);
  expect(three?.changes).toBe(3);
  expect(writesOf(records, { user: 'reeve' })).toEqual([one, three]);
  expect(writesOf(records, { user: 'jane', resource: 'secrets', namespace: 'a' })).toEqual([ofJane]);
  expect(writesOf(records, { resource: 'configmaps' })).toEqual([]);
  expect(writesOf(records, { namespace: 'b' })).toEqual([]);
});
