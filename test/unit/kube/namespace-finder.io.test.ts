// Looking for one Namespace, where a failure must never read as "there is none".
import { expect, test } from 'vitest';
import { clientOf, failureOf, sendJson, startStub, statusOf } from './stub-api-server.ts';
import { createNamespaceFinder } from '../../../src/kube/object-writer.ts';

const { signal } = new AbortController();

test('a Namespace that is there', async () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', labels: { b: 'c' } } };
  const stub = await startStub((response) => sendJson(response, namespace));
  expect(await createNamespaceFinder(clientOf(stub)).find('a', signal)).toEqual(namespace);
  expect(stub.requests).toMatchObject([{ method: 'GET', path: '/api/v1/namespaces/a' }]);
});

test('one that is not', async () => {
  const stub = await startStub((response) => sendJson(response, statusOf(404, 'NotFound'), 404));
  expect(await createNamespaceFinder(clientOf(stub)).find('a', signal)).toBeUndefined();
});

test.each([
  [403, statusOf(403, 'Forbidden'), 'Forbidden'],
  [500, statusOf(500, 'InternalError'), 'InternalError'],
  [200, { kind: 'Namespace' }, 'MalformedAnswer'],
])('%i with %j rejects', async (code, body, reason) => {
  const stub = await startStub((response) => sendJson(response, body, code));
  expect(await failureOf(createNamespaceFinder(clientOf(stub)).find('a', signal))).toMatchObject({
    code,
    reason,
  });
});

test('an abort rejects with its reason', async () => {
  const controller = new AbortController();
  const stub = await startStub(() => controller.abort('out of time'));
  expect(await failureOf(createNamespaceFinder(clientOf(stub)).find('a', controller.signal))).toBe(
    'out of time',
  );
});
