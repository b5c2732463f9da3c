// Checks the request of each method of the writer, and the meaning of the answers.
import { expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../../src/base/metadata.ts';
import { type Discovery, createNamespaceFinder, KubeObjectWriter } from '../../../src/kube/object-writer.ts';
import {
  clientOf,
  rejectionOf,
  sendJson,
  startStub,
  statusOf,
  type Answering,
  type StubServer,
} from './stub-api-server.ts';

const discovery: Pick<Discovery, 'find'> = {
  find: (apiVersion, kind) =>
    Promise.resolve(
      `${apiVersion}/${kind}` === 'v1/Secret' ? { plural: 'secrets', namespaced: true } : undefined,
    ),
};
const ref: ObjectRef = { apiVersion: 'v1', kind: 'Secret', namespace: 'x', name: 'y' };
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'x', name: 'y' },
  data: {},
};
const live = { ...secret, metadata: { ...secret.metadata, uid: 'u1', resourceVersion: '5' } };
const path = '/api/v1/namespaces/x/secrets/y';
const applyType = 'application/apply-patch+yaml';
const mergeType = 'application/merge-patch+json';

async function start(
  answer: Answering,
): Promise<{ readonly stub: StubServer; readonly writer: KubeObjectWriter }> {
  const stub = await startStub(answer);
  return { stub, writer: new KubeObjectWriter(clientOf(stub), discovery) };
}

const mine = { fieldManager: 'reeve' };

test.each<[string, (writer: KubeObjectWriter) => Promise<unknown>, object]>([
  ['read', (w) => w.read(ref), { method: 'GET', path, query: {}, body: undefined }],
  [
    'create',
    (w) => w.create(secret),
    { method: 'POST', path: '/api/v1/namespaces/x/secrets', query: mine, body: secret },
  ],
  [
    'create without a namespace',
    (w) => w.create({ ...secret, metadata: {} }),
    { method: 'POST', path: '/api/v1/secrets' },
  ],
  [
    'apply',
    (w) => w.apply(secret, { force: false }),
    {
      method: 'PATCH',
      path,
      query: { ...mine, force: 'false' },
      body: secret,
      headers: { 'content-type': applyType },
    },
  ],
  [
    'a forced dry-run apply to the status',
    (w) => w.apply(secret, { force: true, dryRun: true, subresource: 'status' }),
    { path: `${path}/status`, query: { ...mine, force: 'true', dryRun: 'All' } },
  ],
  [
    'merge patch',
    (w) => w.mergePatch(ref, { metadata: { labels: { a: null } } }),
    {
      method: 'PATCH',
      path,
      query: mine,
      body: { metadata: { labels: { a: null } } },
      headers: { 'content-type': mergeType },
    },
  ],
  [
    'a merge patch to the status',
    (w) => w.mergePatch(ref, {}, { subresource: 'status' }),
    { path: `${path}/status`, query: mine },
  ],
])('%s sends the expected request', async (_, work, expected) => {
  const { stub, writer } = await start((response) => sendJson(response, live));
  expect(await work(writer)).toEqual(live);
  expect(stub.requests).toMatchObject([expected]);
});

test('remove sends the preconditions', async () => {
  const { stub, writer } = await start((response) => sendJson(response, { kind: 'Status' }));
  await writer.remove(ref, { uid: 'u1' });
  await writer.remove(ref, { uid: 'u1', resourceVersion: '5' });
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
  expect(stub.requests.map(({ method, path: sent, query, body }) => ({ method, sent, query, body }))).toEqual(
    [
      { method: 'DELETE', sent: path, query: {}, body: { ...options, preconditions: { uid: 'u1' } } },
      {
        method: 'DELETE',
        sent: path,
        query: {},
        body: { ...options, preconditions: { uid: 'u1', resourceVersion: '5' } },
      },
    ],
  );
});

test('a missing object reads as undefined, and its removal succeeds', async () => {
  const { writer } = await start((response) => sendJson(response, statusOf(404, 'NotFound'), 404));
  expect(await writer.read(ref)).toBeUndefined();
  expect(await writer.remove(ref, { uid: 'u1' })).toBeUndefined();
  expect(await rejectionOf(writer.apply(secret, { force: true }))).toMatchObject({ code: 404 });
  expect(await rejectionOf(writer.mergePatch(ref, {}))).toMatchObject({ code: 404 });
});

test.each<[string, Answering, object | undefined]>([
  [
    'another object has the name now',
    (response) => sendJson(response, { metadata: { uid: 'u2' } }),
    undefined,
  ],
  ['no object has the name now', (response) => sendJson(response, statusOf(404, 'NotFound'), 404), undefined],
  ['the object has changed', (response) => sendJson(response, live), { code: 409, reason: 'Conflict' }],
  ['a read is forbidden', (response) => sendJson(response, statusOf(403, 'Forbidden'), 403), { code: 409 }],
])('a removal has the right result after a conflict when %s', async (_, look, expected) => {
  const { writer } = await start((response, request) => {
    if (request.method === 'GET') look(response, request);
    else sendJson(response, statusOf(409, 'Conflict'), 409);
  });
  const error = await rejectionOf(writer.remove(ref, { uid: 'u1', resourceVersion: '4' }));
  if (expected === undefined) expect(error).toBeUndefined();
  else expect(error).toMatchObject(expected);
});

test('a conflict with a resourceVersion is reported before the write rejects', async () => {
  const reported: unknown[] = [];
  const stub = await startStub((response, request) => {
    if (request.method === 'GET') sendJson(response, live);
    else sendJson(response, statusOf(409, 'Conflict'), 409);
  });
  const writer = new KubeObjectWriter(clientOf(stub), discovery, async (object, version) => {
    await Promise.resolve(reported.push([object, version]));
  });
  const metadata = { ...secret.metadata, resourceVersion: '4' };
  for (const write of [
    () => writer.apply({ ...secret, metadata }, { force: true }),
    () => writer.mergePatch(ref, { metadata: { resourceVersion: '4' } }),
    () => writer.remove(ref, { uid: 'u1', resourceVersion: '4' }),
    // Without a version, no watch can have missed one.
    () => writer.apply(secret, { force: true }),
  ])
    expect(await rejectionOf(write())).toMatchObject({ code: 409 });
  const about = { apiVersion: 'v1', plural: 'secrets', namespace: 'x', name: 'y' };
  expect(reported).toEqual([
    [about, '4'],
    [about, '4'],
    [about, '4'],
  ]);
});

test('a kind that is not served has no objects, and a write rejects', async () => {
  const { stub, writer } = await start((response) => sendJson(response, live));
  const unknown = { ...ref, kind: 'Foo' };
  expect(await writer.read(unknown)).toBeUndefined();
  expect(await writer.remove(unknown, { uid: 'u1' })).toBeUndefined();
  for (const work of [
    writer.apply({ ...secret, kind: 'Foo' }, { force: true }),
    writer.create({ metadata: {} }),
  ]) {
    expect(await rejectionOf(work)).toMatchObject({ code: 404, reason: 'KindNotServed', retryable: true });
  }
  expect(stub.requests).toEqual([]);
});

test('an object without a name never reaches the collection', async () => {
  const { stub, writer } = await start((response) => sendJson(response, statusOf(404, 'NotFound'), 404));
  await rejectionOf(writer.apply({ ...secret, metadata: { namespace: 'x' } }, { force: true }));
  await writer.remove({ ...ref, name: '' }, { uid: 'u1' });
  expect(stub.requests.map((request) => request.path)).toEqual([
    '/api/v1/namespaces/x/secrets/%20',
    '/api/v1/namespaces/x/secrets/%20',
  ]);
});

test('an answer that is not an object rejects', async () => {
  const { writer } = await start((response) => sendJson(response, { metadata: 'x' }));
  const error = await rejectionOf(writer.apply(secret, { force: true }));
  expect(error).toBeInstanceOf(KubeError);
  expect(error).toMatchObject({ reason: 'MalformedAnswer' });
});

test.each<[string, (writer: KubeObjectWriter, signal: AbortSignal) => Promise<unknown>]>([
  ['read', (w, signal) => w.read(ref, signal)],
  ['apply', (w, signal) => w.apply(secret, { force: true, signal })],
  ['merge patch', (w, signal) => w.mergePatch(ref, {}, { signal })],
  ['remove', (w, signal) => w.remove(ref, { uid: 'u1' }, signal)],
])('%s rejects with the reason of the signal', async (_, work) => {
  const controller = new AbortController();
  const { writer } = await start(() => controller.abort('lost the lease'));
  expect(await rejectionOf(work(writer, controller.signal))).toBe('lost the lease');
});

test('an existing Namespace is found', async () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', labels: { b: 'c' } } };
  const stub = await startStub((response) => sendJson(response, namespace));
  expect(await createNamespaceFinder(clientOf(stub)).find('a', new AbortController().signal)).toEqual(
    namespace,
  );
  expect(stub.requests).toMatchObject([{ method: 'GET', path: '/api/v1/namespaces/a' }]);
});

test('a missing Namespace is undefined', async () => {
  const stub = await startStub((response) => sendJson(response, statusOf(404, 'NotFound'), 404));
  expect(await createNamespaceFinder(clientOf(stub)).find('a', new AbortController().signal)).toBeUndefined();
});

test.each([
  [403, statusOf(403, 'Forbidden'), 'Forbidden'],
  [500, statusOf(500, 'InternalError'), 'InternalError'],
  [200, { kind: 'Namespace' }, 'MalformedAnswer'],
])('the search for a Namespace rejects for the answer %i with %j', async (code, body, reason) => {
  const stub = await startStub((response) => sendJson(response, body, code));
  expect(
    await rejectionOf(createNamespaceFinder(clientOf(stub)).find('a', new AbortController().signal)),
  ).toMatchObject({
    code,
    reason,
  });
});

test('the search for a Namespace rejects with the reason of the signal', async () => {
  const controller = new AbortController();
  const stub = await startStub(() => controller.abort('out of time'));
  expect(await rejectionOf(createNamespaceFinder(clientOf(stub)).find('a', controller.signal))).toBe(
    'out of time',
  );
});
