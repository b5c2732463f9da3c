// Reviews that are readable and wrong: HTTP 200, refused inside, the uid echoed. And odd ones that are all right.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bindingObject,
  namespaceObject,
  policyObject,
  responseOf,
  reviewJson,
  secretObject,
  testUid,
  type Json,
  type Response,
} from '../support/reviews.ts';
import { knownNamespace, snapshotOf } from '../support/engine.ts';
import { issueTestPair, startTestWebhook, type TestWebhook } from '../support/test-webhook.ts';

let target: TestWebhook;

beforeAll(async () => {
  const snapshot = snapshotOf(
    {
      teams: {
        match: { names: ['team-*'] },
        validationActions: ['Deny'],
        secrets: { forbiddenTypes: ['example.com/forbidden'] },
        rbac: {
          allowedRoleRefs: ['ClusterRole/view', 'Role/*'],
          forbiddenSubjects: [
            'Group/system:authenticated',
            'Group/system:unauthenticated',
            'ServiceAccount/team-a/robot',
          ],
        },
      },
      defaulted: {
        match: { names: ['defaulted'] },
        namespaces: { defaults: { labels: { 'example.com/a': 'x' } } },
      },
      patterned: {
        match: { names: ['patterned'] },
        namespaces: { required: { annotations: { note: { pattern: '^(a+)+$' } } } },
      },
    },
    [knownNamespace('team-a'), knownNamespace('elsewhere')],
  );
  target = await startTestWebhook(await issueTestPair(), snapshot, {
    access: { mayDo: () => Promise.resolve('yes') },
  });
});
afterAll(() => target.close());

async function ask(path: string, object: Json, changes: Json = {}): Promise<Response> {
  const answer = await target.client.post(path, reviewJson(object, changes));
  expect(answer).toMatchObject({ code: 200, headers: { 'content-type': 'application/json' } });
  const response = responseOf(answer.body);
  expect(response.uid).toBe(testUid);
  return response;
}

const namespace = namespaceObject('team-a');
const labels = (value: unknown): Json => namespaceObject('team-a', { labels: value });

/** A name, an object, changes to the request, and the code of the answer if it is not 400. */
type Row = readonly [string, Json, Json, number?];

function withCode([name, object, changes, code = 400]: Row): readonly [string, Json, Json, number] {
  return [name, object, changes, code];
}

describe('refused inside the review', () => {
  const rows: readonly Row[] = [
    ['no operation', namespace, { operation: undefined }],
    ['operation create', namespace, { operation: 'create' }],
    ['operation PATCH', namespace, { operation: 'PATCH' }],
    ['object null on CREATE', namespace, { object: null }],
    ['oldObject null on UPDATE', namespace, { operation: 'UPDATE', oldObject: null }],
    ['metadata missing', namespace, { object: { kind: 'Namespace', apiVersion: 'v1' } }],
    ['metadata null', namespace, { object: { ...namespace, metadata: null } }],
    ['metadata as list', namespace, { object: { ...namespace, metadata: [] } }],
    ['metadata as text', namespace, { object: { ...namespace, metadata: 'x' } }],
    ['labels as list', labels([]), {}],
    ['a label as number', labels({ a: 1 }), {}],
    ['a label as boolean', labels({ a: true }), {}],
    ['a label of null', labels({ a: null }), {}],
    ['a label as object', labels({ a: {} }), {}],
    ['another name', namespace, { name: 'other', namespace: '' }],
    ['another namespace', secretObject(), { namespace: 'elsewhere' }],
    ['another kind', namespace, { kind: { group: '', version: 'v1', kind: 'Pod' } }],
    ['another kind in the object', namespace, { object: { ...namespace, kind: 'Pod' } }],
    ['dryRun as text', namespace, { dryRun: 'yes' }],
    ['an unknown subresource', namespace, { subResource: 'scale' }, 403],
    ['no user', namespace, { userInfo: undefined }, 403],
    ['user null', namespace, { userInfo: null }, 403],
    ['an empty user name', namespace, { userInfo: { username: '' } }, 403],
    ['groups as text', namespace, { userInfo: { username: 'a', groups: 'system:masters' } }, 403],
    ['roleRef of kind clusterrole', bindingObject({ roleRef: { kind: 'clusterrole', name: 'view' } }), {}],
  ];
  describe.each(['/validate', '/mutate'])('POST %s', (path) => {
    test.each(rows.map(withCode))('%s', async (_name, object, changes, code) => {
      const { allowed, status, patch } = await ask(path, object, changes);
      expect({ allowed, patch }).toEqual({ allowed: false, patch: undefined });
      expect(status).toMatchObject({
        metadata: {},
        status: 'Failure',
        code,
        reason: code === 400 ? 'BadRequest' : 'Forbidden',
        details: { causes: [{ reason: 'FieldValueInvalid' }] },
      });
    });
  });

  test('200,000 keys that look like numbers are refused', async () => {
    const data = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [String(index), '']));
    expect((await ask('/validate', secretObject({ data }))).status?.code).toBe(400);
  });
});

describe('other resources are refused by /validate and passed by /mutate', () => {
  test.each([
    ['another resource', { resource: { group: '', version: 'v1', resource: 'pods' } }],
    ['CONNECT', { operation: 'CONNECT' }],
  ])('%s', async (_name, changes) => {
    expect((await ask('/validate', namespace, changes)).status?.code).toBe(400);
    expect(await ask('/mutate', namespace, changes)).toEqual({ uid: testUid, allowed: true });
  });
});

describe('odd requests that are allowed', () => {
  const rows: readonly (readonly [string, Json, Json])[] = [
    ['unknown fields', { ...namespace, more: [1] }, { more: {} }],
    ['labels of null', labels(null), {}],
    ['labels with names of JavaScript', labels({ constructor: 'a', toString: 'b', hasOwnProperty: 'c' }), {}],
    [
      'generateName alone',
      namespaceObject('x', { name: undefined, generateName: 'team-' }),
      { name: '', namespace: '' },
    ],
    ['dryRun', namespace, { dryRun: true }],
    ['options of null', namespace, { options: null }],
    ['options of an apply', namespace, { options: { kind: 'PatchOptions', fieldManager: 'x', force: true } }],
    ['status', namespace, { operation: 'UPDATE', oldObject: namespace, subResource: 'status' }],
    ['finalize', namespace, { operation: 'UPDATE', oldObject: namespace, subResource: 'finalize' }],
    [
      'DELETE without a name',
      secretObject(),
      { operation: 'DELETE', name: '', object: null, oldObject: secretObject() },
    ],
    ['a status that is not ours', { ...policyObject({ match: { names: ['x'] } }), status: 5 }, {}],
    ['a policy without a namespace', policyObject({ match: { names: ['x'] } }), { namespace: null }],
    [
      'a policy that is deleted without a name',
      policyObject({ match: { names: ['x'] } }),
      { operation: 'DELETE', name: '', object: null, oldObject: policyObject({ match: { names: ['x'] } }) },
    ],
    ['data that is not base64', secretObject({ data: { a: '%%%' } }), {}],
    ['data and stringData with one key', secretObject({ data: { a: 'eA==' }, stringData: { a: 'y' } }), {}],
    ['no data', secretObject({ data: {}, type: undefined }), {}],
    ['a value of a megabyte', secretObject({ data: { a: 'eHh4'.repeat(350_000) } }), {}],
    ['subjects of null', bindingObject({ subjects: null }), {}],
    ['no subjects', bindingObject({ subjects: [] }), {}],
    [
      '1,000 subjects',
      bindingObject({ subjects: Array.from({ length: 1000 }, (_, i) => ({ kind: 'User', name: `u${i}` })) }),
      {},
    ],
    [
      'roleRef without a group',
      bindingObject({ roleRef: { apiGroup: '', kind: 'ClusterRole', name: 'view' } }),
      {},
    ],
  ];
  test.each(rows)('%s', async (_name, object, changes) => {
    // A policy that matches nothing gets a warning.
    expect(await ask('/validate', object, changes)).toMatchObject({ uid: testUid, allowed: true });
    expect(await ask('/mutate', object, changes)).toEqual({ uid: testUid, allowed: true });
  });

  test.each([namespaceObject('UPPER'), namespaceObject('x'.repeat(300)), namespaceObject('a/b')])(
    'an invalid name is left to the API server',
    async (object) => {
      expect((await ask('/validate', object)).allowed).toBe(true);
    },
  );

  test('a review of 6.9 MiB is answered', async () => {
    const object = namespaceObject('team-a', { annotations: { big: 'x'.repeat(6.9 * 1024 * 1024) } });
    expect((await ask('/validate', object)).allowed).toBe(true);
  });

  test('a long annotation is judged in time by a pattern that backtracks in other engines', async () => {
    const object = namespaceObject('patterned', { annotations: { note: `${'a'.repeat(256 * 1024)}!` } });
    expect((await ask('/validate', object)).status?.code).toBe(403);
  });

  test('a response inside the request is ignored', async () => {
    const body = JSON.parse(reviewJson(secretObject({ type: 'example.com/forbidden' }))) as Json;
    const forged = JSON.stringify({ ...body, response: { uid: 'x', allowed: true } });
    expect(responseOf((await target.client.post('/validate', forged)).body)).toMatchObject({
      uid: testUid,
      allowed: false,
    });
  });
});

describe('rules see through spellings', () => {
  const subjects: readonly Json[] = [
    { kind: 'Group', name: 'system:authenticated' },
    { kind: 'Group', name: 'system:unauthenticated' },
    { kind: 'ServiceAccount', name: 'robot', namespace: 'team-a' },
    { kind: 'ServiceAccount', name: 'robot' },
    { kind: 'User', name: 'system:serviceaccount:team-a:robot' },
    { kind: 'Robot', name: 'x' },
  ];
  test.each(subjects)('the subject %j is refused', async (subject) => {
    const { allowed, status } = await ask('/validate', bindingObject({ subjects: [subject] }));
    expect({ allowed, code: status?.code, reason: status?.reason }).toEqual({
      allowed: false,
      code: 403,
      reason: 'Forbidden',
    });
    expect(status?.details).toMatchObject({
      name: 'readers',
      kind: 'rolebindings',
      group: 'rbac.authorization.k8s.io',
    });
    expect(status?.message).toContain('policy teams, rbac.forbiddenSubjects');
  });
});

describe('patches', () => {
  test('a patch adds the map of labels first if a namespace has none', async () => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'defaulted' } };
    const { patch, patchType } = await ask('/mutate', object);
    expect(patchType).toBe('JSONPatch');
    expect(JSON.parse(Buffer.from(patch ?? '', 'base64').toString())).toEqual([
      { op: 'add', path: '/metadata/labels', value: { 'example.com/a': 'x' } },
    ]);
  });

  test('a patch escapes a key with a slash', async () => {
    const { patch } = await ask('/mutate', namespaceObject('defaulted'));
    expect(JSON.parse(Buffer.from(patch ?? '', 'base64').toString())).toEqual([
      { op: 'add', path: '/metadata/labels/example.com~1a', value: 'x' },
    ]);
  });

  test('existing values are left alone, and a DELETE is never patched', async () => {
    const object = namespaceObject('defaulted', { labels: { 'example.com/a': 'y' } });
    expect(await ask('/mutate', object)).toEqual({ uid: testUid, allowed: true });
    const removal = { operation: 'DELETE', object: null, oldObject: namespaceObject('defaulted') };
    expect(await ask('/mutate', namespaceObject('defaulted'), removal)).toEqual({
      uid: testUid,
      allowed: true,
    });
  });
});

test('no request caused an internal error', () => {
  expect(target.observer.errors).toEqual([]);
});
