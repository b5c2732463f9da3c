// The short form of a request becomes the request that the API server sends.
import { describe, expect, test } from 'vitest';
import { operationOf, requesterOf, requestOf } from '../../../../src/inspect/suites/requests.ts';
import type { SuiteRequest } from '../../../../src/inspect/suites/suite.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';

const stored: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', uid: 'u', labels: { a: 'b', c: 'd' } } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'team-a' }, type: 'Opaque' },
  { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name: 'team' }, spec: {} },
];
const state = {
  find: ({ kind }, namespace: string, name: string) =>
    stored.find(
      (each) =>
        each.kind === kind && each.metadata.name === name && (each.metadata.namespace ?? '') === namespace,
    ),
} as Parameters<typeof requestOf>[1];
const reviews = new Map<string, unknown>([['review.json', { request: { uid: 'x', name: 'n' } }]]);

const namespaces = {
  kind: { group: '', version: 'v1', kind: 'Namespace' },
  resource: { group: '', version: 'v1', resource: 'namespaces' },
  name: 'team-a',
  namespace: 'team-a',
};
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'team-a' } };

describe('a request', () => {
  test.for<[title: string, short: SuiteRequest, expected: object]>([
    [
      'that creates an object has no old object',
      { create: secret, dryRun: true },
      { operation: 'CREATE', name: 's', namespace: 'team-a', object: secret, oldObject: null, dryRun: true },
    ],
    [
      'that changes fields keeps all others of the stored object',
      { update: 'namespace/team-a', set: { metadata: { labels: { a: null, e: 'f' } } } },
      {
        ...namespaces,
        operation: 'UPDATE',
        oldObject: stored[0],
        object: { ...stored[0], metadata: { name: 'team-a', uid: 'u', labels: { c: 'd', e: 'f' } } },
      },
    ],
    [
      'that replaces the object keeps its uid',
      { update: 'ns/team-a', to: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } } },
      {
        ...namespaces,
        object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', uid: 'u' } },
      },
    ],
    [
      'that deletes an object in a namespace names both',
      { delete: 'secrets/s', namespace: 'team-a' },
      { operation: 'DELETE', name: 's', namespace: 'team-a', object: null, oldObject: stored[1] },
    ],
    [
      'on a policy has no namespace',
      { delete: 'policy/team' },
      {
        name: 'team',
        namespace: '',
        resource: { group: 'reeve.dev', version: 'v1alpha1', resource: 'namespacepolicies' },
      },
    ],
    [
      'that deletes an object of the test itself does not need a stored one',
      { delete: 'namespace/x', from: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } } },
      { name: 'x', oldObject: { metadata: { name: 'x' } } },
    ],
    ['of a file is sent as it is', { file: 'review.json' }, { uid: 'x', name: 'n' }],
  ])('%s', ([, short, expected]) => {
    expect(requestOf(short, state, reviews)).toMatchObject({ ok: true, request: expected });
  });

  test.for<[title: string, short: SuiteRequest, path: string, found: RegExp]>([
    [
      'names an unknown kind',
      { delete: 'namespce/a' },
      'delete',
      /^namespce\/a; did you mean namespace\/a\?$/,
    ],
    ['names an object that is not stored', { delete: 'secret/x' }, 'delete', /^nothing$/],
    ['has another object in `from`', { delete: 'secret/x', from: secret }, 'delete', /^nothing$/],
    [
      'creates an object that no policy judges',
      { create: { apiVersion: 'v1', kind: 'Pod', metadata: {} } },
      'create.kind',
      /^v1\/Pod$/,
    ],
    ['names a file without a review', { file: 'x.json' }, 'file', /^none in x\.json$/],
  ])('a request that %s is an error with its place', ([, short, path, found]) => {
    const built = requestOf(short, state, reviews);
    if (built.ok) throw new Error('the request was built');
    expect([built.path.join('.'), built.found]).toEqual([path, expect.stringMatching(found)]);
  });
});

test.for<[request: SuiteRequest, username: string, groups: readonly string[]]>([
  [{}, 'system:admin', ['system:masters', 'system:authenticated']],
  [{ as: 'alice', groups: ['red'] }, 'alice', ['red', 'system:authenticated']],
  [
    { as: 'serviceaccount:ci/deployer' },
    'system:serviceaccount:ci:deployer',
    ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
  ],
])('the user of %j is %s, with the groups of Kubernetes', ([request, username, groups]) => {
  expect(requesterOf(request)).toEqual({ username, groups });
});

test('the operation of a request in a file is not known before the file is read', () => {
  expect(operationOf({ file: 'x' })).toBeUndefined();
  expect(operationOf(undefined)).toBeUndefined();
});
