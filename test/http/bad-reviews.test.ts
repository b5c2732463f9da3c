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
import { issueTestPair, startTestWebhook, type TestWebhook, askedReview } from '../support/test-webhook.ts';

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
          forbiddenSubjects: ['Group/system:authenticated'],
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
  return await askedReview(target, path, reviewJson(object, changes));
}

const namespace = namespaceObject('team-a');
const labels = (value: unknown): Json => namespaceObject('team-a', { labels: value });

// All other rows are in test/unit/admission/decode/decode-review.test.ts.
describe.each(['/validate', '/mutate'])('a request that is refused inside the review: POST %s', (path) => {
  test.each([
    ['no operation', { operation: undefined }, 400, 'BadRequest'],
    ['no user', { userInfo: undefined }, 403, 'Forbidden'],
  ])('a request with %s is refused', async (_name, changes, code, reason) => {
    const { allowed, status, patch } = await ask(path, namespace, changes);
    expect({ allowed, patch }).toEqual({ allowed: false, patch: undefined });
    const details = { causes: [{ reason: 'FieldValueInvalid' }] };
    expect(status).toMatchObject({ metadata: {}, status: 'Failure', code, reason, details });
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
    ['labels of null', labels(null), {}],
    ['labels with names of JavaScript', labels({ constructor: 'a', toString: 'b', hasOwnProperty: 'c' }), {}],
    ['dryRun', namespace, { dryRun: true }],
    ['options of an apply', namespace, { options: { kind: 'PatchOptions', fieldManager: 'x', force: true } }],
    ['status', namespace, { operation: 'UPDATE', oldObject: namespace, subResource: 'status' }],
    ['finalize', namespace, { operation: 'UPDATE', oldObject: namespace, subResource: 'finalize' }],
    ['a status that is not ours', { ...policyObject({ match: { names: ['x'] } }), status: 5 }, {}],
    ['a policy without a namespace', policyObject({ match: { names: ['x'] } }), { namespace: null }],
    [
      'a policy that is deleted without a name',
      policyObject({ match: { names: ['x'] } }),
      { operation: 'DELETE', name: '', object: null, oldObject: policyObject({ match: { names: ['x'] } }) },
    ],
    ['data and stringData with one key', secretObject({ data: { a: 'eA==' }, stringData: { a: 'y' } }), {}],
    ['no data', secretObject({ data: {}, type: undefined }), {}],
    ['a value of a megabyte', secretObject({ data: { a: 'eHh4'.repeat(350_000) } }), {}],
    ['no subjects', bindingObject({ subjects: [] }), {}],
    [
      '1,000 subjects',
      bindingObject({ subjects: Array.from({ length: 1000 }, (_, i) => ({ kind: 'User', name: `u${i}` })) }),
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
