// Asks for rights: what is sent, what is cached and for how long, and what a missing answer means.
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createAccessReviewer, createSelfReviewer } from '../../../src/kube/access-review.ts';
import type { AccessReviews, Caller, ResourceAttributes } from '../../../src/kube/access-review.ts';
import type { KubeClient } from '../../../src/kube/http/client.ts';
import { clientOf, rejectionOf, sendJson, startStub, statusOf } from './stub-api-server.ts';
import type { Answering, StubServer } from './stub-api-server.ts';

const ann: Caller = { username: 'ann', groups: ['dev', 'ops'] };
const use: ResourceAttributes = { verb: 'use', group: 'reeve.dev', resource: 'namespacepolicies', name: 'a' };
const { signal } = new AbortController();

interface Setting {
  readonly stub: StubServer;
  readonly reviews: AccessReviews;
  readonly pass: (milliseconds: number) => void;
}

async function start(answer: Answering): Promise<Setting> {
  const stub = await startStub(answer);
  let now = 0;
  const reviews = createAccessReviewer(clientOf(stub), { monotonic: () => now });
  return { stub, reviews, pass: (milliseconds) => void (now += milliseconds) };
}

const answering =
  (status: unknown): Answering =>
  (response) =>
    sendJson(response, { kind: 'SubjectAccessReview', status }, 201);

test('all attributes of the user are sent', async () => {
  const { stub, reviews } = await start(answering({ allowed: true }));
  const caller = {
    ...ann,
    uid: 'u',
    extra: JSON.parse('{"__proto__":["x"],"a/b":["c","d"]}') as Caller['extra'] & {},
  };
  const right = { ...use, namespace: 'x', subresource: 'status' };
  await reviews.mayDo(caller, right, signal);
  await reviews.mayDo(ann, { verb: 'create', group: '', resource: 'secrets' }, signal);
  expect(stub.requests.map(({ path }) => path)).toEqual([
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  ]);
  const sent = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
  const first = {
    ...sent,
    spec: {
      user: 'ann',
      groups: ['dev', 'ops'],
      uid: 'u',
      extra: caller.extra,
      resourceAttributes: {
        verb: 'use',
        group: 'reeve.dev',
        resource: 'namespacepolicies',
        name: 'a',
        namespace: 'x',
        subresource: 'status',
      },
    },
  };
  const second = {
    ...sent,
    spec: {
      user: 'ann',
      groups: ['dev', 'ops'],
      resourceAttributes: { verb: 'create', group: '', resource: 'secrets' },
    },
  };
  expect(stub.requests.map(({ body }) => JSON.stringify(body))).toEqual(
    [first, second].map((body) => JSON.stringify(body)),
  );
});

test.each<[string, Answering, string]>([
  ['allowed', answering({ allowed: true }), 'yes'],
  ['allowed with an evaluation error', answering({ allowed: true, evaluationError: 'x' }), 'yes'],
  ['not allowed', answering({ allowed: false }), 'no'],
  ['denied', answering({ allowed: false, denied: true, reason: 'no' }), 'no'],
  ['not allowed with an evaluation error', answering({ allowed: false, evaluationError: 'x' }), 'unknown'],
  ['an answer without a status', answering(undefined), 'unknown'],
  ['an odd status', answering({ allowed: 'true' }), 'unknown'],
  ['403', (response) => sendJson(response, statusOf(403, 'Forbidden'), 403), 'unknown'],
  ['503', (response) => sendJson(response, statusOf(503, 'ServiceUnavailable'), 503), 'unknown'],
  ['an answer that is not JSON', (response) => response.end('{'), 'unknown'],
])('%s has the right answer for a user', async (_, answer, expected) => {
  const { reviews } = await start(answer);
  expect(await reviews.mayDo(ann, use, signal)).toBe(expected);
});

test.each([
  ['a yes', 'still', { allowed: true }, 9999, 1],
  ['a yes', 'no longer', { allowed: true }, 10_000, 2],
  ['a no', 'still', { allowed: false }, 999, 1],
  ['a no', 'no longer', { allowed: false }, 1000, 2],
  ['an unknown', 'never', { allowed: false, evaluationError: 'x' }, 0, 2],
])('%s is %s cached (%j, after %i ms)', async (_answer, _cached, status, milliseconds, asked) => {
  const { stub, reviews, pass } = await start(answering(status));
  await reviews.mayDo(ann, use, signal);
  pass(milliseconds);
  await reviews.mayDo(ann, use, signal);
  expect(stub.requests).toHaveLength(asked);
});

test.each<[string, Caller, ResourceAttributes]>([
  ['another name', { ...ann, username: 'bob' }, use],
  ['fewer groups', { ...ann, groups: ['dev'] }, use],
  ['the same letters in other groups', { ...ann, groups: ['dev,ops'] }, use],
  ['a UID', { ...ann, uid: 'u' }, use],
  ['extra', { ...ann, extra: { a: ['b'] } }, use],
  ['another verb', ann, { ...use, verb: 'get' }],
  ['another group of the API', ann, { ...use, group: '' }],
  ['another resource', ann, { ...use, resource: 'secretshares' }],
  ['another object', ann, { ...use, name: 'b' }],
  ['a namespace', ann, { ...use, namespace: 'b' }],
  ['a subresource', ann, { ...use, subresource: 'b' }],
])('a cached answer is not used for %s', async (_, caller, right) => {
  const { stub, reviews } = await start(answering({ allowed: true }));
  await reviews.mayDo(ann, use, signal);
  await reviews.mayDo(caller, right, signal);
  await reviews.mayDo(ann, use, signal);
  expect(stub.requests).toHaveLength(2);
});

test('the oldest answer is removed from a full cache', async () => {
  const asked: unknown[] = [];
  const client: KubeClient = {
    request: ({ body }) => {
      asked.push(body);
      return Promise.resolve({ status: { allowed: true } });
    },
    stream: () => Promise.reject(new Error('no test watches')),
    close: () => undefined,
  };
  const reviews = createAccessReviewer(client, { monotonic: () => 0 });
  const ask = (index: number): Promise<unknown> =>
    reviews.mayDo(ann, { ...use, name: String(index) }, signal);
  for (let index = 0; index <= 4096; index += 1) await ask(index);
  await ask(1);
  await ask(4096);
  expect(asked).toHaveLength(4097);
  await ask(0);
  expect(asked).toHaveLength(4098);
});

test('the same question at the same time is asked once, and a caller that aborts does not affect the others', async () => {
  const { promise: held, resolve } = Promise.withResolvers<ServerResponse>();
  const { stub, reviews } = await start(resolve);
  const leaving = new AbortController();
  const first = rejectionOf(reviews.mayDo(ann, use, leaving.signal));
  const second = reviews.mayDo(ann, use, signal);
  leaving.abort('gone');
  expect(await first).toBe('gone');
  sendJson(await held, { status: { allowed: true } });
  expect(await second).toBe('yes');
  expect(stub.requests).toHaveLength(1);
});

test('a broken connection does not become a refusal', async () => {
  const { stub, reviews } = await start((response) => {
    if (stub.requests.length === 1) response.socket?.destroy();
    else sendJson(response, { status: { allowed: true } });
  });
  expect(await reviews.mayDo(ann, use, signal)).toBe('yes');
});

const selfAnswering =
  (status: unknown): Answering =>
  (response) =>
    sendJson(response, { kind: 'SelfSubjectAccessReview', status }, 201);

test('a review of our own rights names no user', async () => {
  const stub = await startStub(selfAnswering({ allowed: true }));
  const right = { verb: 'list', group: '', resource: 'secrets', name: 'regcred' };
  expect(await createSelfReviewer(clientOf(stub)).mayDo(right, signal)).toBe('yes');
  expect(stub.requests.map(({ path, body }) => [path, body])).toEqual([
    [
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: right },
      },
    ],
  ]);
});

test.each<[string, Answering, string]>([
  ['not allowed', selfAnswering({ allowed: false }), 'no'],
  [
    'not allowed with an evaluation error',
    selfAnswering({ allowed: false, evaluationError: 'x' }),
    'unknown',
  ],
  ['an answer without a status', selfAnswering(undefined), 'unknown'],
  ['403', (response) => sendJson(response, statusOf(403, 'Forbidden'), 403), 'unknown'],
])('%s has the right answer for our own account', async (_what, answer, expected) => {
  const stub = await startStub(answer);
  const right = { verb: 'bind', group: 'rbac.authorization.k8s.io', resource: 'clusterroles', name: 'x' };
  expect(await createSelfReviewer(clientOf(stub)).mayDo(right, signal)).toBe(expected);
});
