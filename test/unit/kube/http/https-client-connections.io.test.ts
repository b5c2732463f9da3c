// Keeps connections to the API server, also for streams, and replaces closed ones.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import type { KubeRequest } from '../../../../src/kube/http/client.ts';
import type { Credentials } from '../../../../src/kube/http/http-exchange.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  clientOf,
  rejectionOf,
  sendJson,
  startStub,
  statusOf,
  stubCertificates,
} from '../stub-api-server.ts';

const get: KubeRequest = { method: 'GET', path: '/get' };
const apply: KubeRequest = {
  method: 'PATCH',
  path: '/apply',
  contentType: 'application/apply-patch+yaml',
  body: {},
};
const watch: KubeRequest = { method: 'GET', path: '/watch' };

test('requests one after the other share one connection', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  const client = clientOf(stub);
  for (let round = 0; round < 20; round += 1) await client.request(get);
  expect(stub.connections).toHaveLength(1);
});

test('parallel requests open at most the configured number of connections', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  const client = clientOf(stub, { maxConnections: 4 });
  await Promise.all(Array.from({ length: 100 }, () => client.request(get)));
  expect(stub.requests).toHaveLength(100);
  expect(stub.connections).toHaveLength(4);
});

test.each([
  ['GET', get],
  ['an apply', apply],
])('%s on a connection that the server has closed is sent again', async (_, request) => {
  const stub = await startStub((response) => {
    // The second request of the first connection is not answered.
    if (stub.requests.length === 2) stub.reset(response);
    else sendJson(response, { round: stub.requests.length });
  });
  const client = clientOf(stub);
  await client.request(get);
  expect(await client.request(request)).toEqual({ round: 3 });
  expect(stub.connections).toHaveLength(2);
});

test('when all kept connections are closed, all requests are sent again', async () => {
  const waiting: ServerResponse[] = [];
  const stub = await startStub((response) => {
    if (stub.requests.length <= 3) {
      waiting.push(response);
      if (waiting.length === 3) for (const held of waiting) sendJson(held, {});
    } else if (stub.connections.indexOf(response.socket as never) < 3) stub.reset(response);
    else sendJson(response, { again: true });
  });
  const client = clientOf(stub);
  await Promise.all([1, 2, 3].map(() => client.request(get)));
  expect(await Promise.all([1, 2, 3].map(() => client.request(get)))).toEqual(
    Array.from({ length: 3 }, () => ({ again: true })),
  );
});

test.each<[string, KubeRequest]>([
  ['POST', { method: 'POST', path: '/x', body: {} }],
  ['PUT', { method: 'PUT', path: '/x', body: {} }],
  ['DELETE', { method: 'DELETE', path: '/x', body: {} }],
  ['a merge patch', { ...apply, contentType: 'application/merge-patch+json' }],
])('%s is not sent again, because it may have been executed', async (_, request) => {
  const stub = await startStub((response) => {
    if (stub.requests.length === 2) stub.reset(response);
    else sendJson(response, {});
  });
  const client = clientOf(stub);
  await client.request(get);
  expect(await rejectionOf(client.request(request))).toMatchObject({
    code: 0,
    reason: 'ECONNRESET',
    retryable: true,
  });
  expect(stub.requests).toHaveLength(2);
});

test('a reset of a new connection is an error', async () => {
  const stub = await startStub((response) => stub.reset(response));
  expect(await rejectionOf(clientOf(stub).request(get))).toMatchObject({ code: 0, reason: 'ECONNRESET' });
  expect(stub.requests).toHaveLength(1);
});

test('the next request after a timeout uses a new connection', async () => {
  const waiting: ServerResponse[] = [];
  const stub = await startStub((response) => {
    // The first three connections stay open, and then ignore all requests.
    if (stub.requests.length <= 3) {
      waiting.push(response);
      if (waiting.length === 3) for (const held of waiting) sendJson(held, {});
    } else if (stub.connections.indexOf(response.socket as never) >= 3) sendJson(response, {});
  });
  const client = clientOf(stub);
  await Promise.all([1, 2, 3].map(() => client.request(get)));
  expect(await rejectionOf(client.request({ ...get, timeoutMs: 50 }))).toMatchObject({ reason: 'Timeout' });
  await client.request({ ...get, timeoutMs: 30_000 });
  expect(stub.connections).toHaveLength(4);
});

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('a stream yields the bytes as they arrive, and ends with the answer', async () => {
  const { promise: held, resolve } = Promise.withResolvers<ServerResponse>();
  const stub = await startStub((response) => {
    response.write('one\n');
    resolve(response);
  });
  const stream = await clientOf(stub).stream(watch);
  const iterator = stream[Symbol.asyncIterator]();
  expect(String((await iterator.next()).value)).toBe('one\n');
  (await held).end('two\n');
  expect(await textOf({ [Symbol.asyncIterator]: () => iterator })).toBe('two\n');
});

test('a stream without a head rejects with Timeout', async () => {
  const stub = await startStub(() => undefined);
  expect(await rejectionOf(clientOf(stub).stream({ ...watch, timeoutMs: 50 }))).toMatchObject({
    reason: 'Timeout',
  });
});

test('a refused stream rejects with the status', async () => {
  const stub = await startStub((response) => sendJson(response, statusOf(410, 'Expired'), 410));
  expect(await rejectionOf(clientOf(stub).stream(watch))).toMatchObject({ code: 410, reason: 'Expired' });
});

test('a stream that breaks throws a KubeError', async () => {
  const stub = await startStub((response) => response.write('one', () => stub.reset(response)));
  const stream = await clientOf(stub).stream(watch);
  const error = await rejectionOf(textOf(stream));
  expect(error).toBeInstanceOf(KubeError);
  expect(error).toMatchObject({ code: 0, reason: 'ECONNRESET', retryable: true });
});

test('an abort ends a stream with its reason, and closes the connection', async () => {
  const stub = await startStub((response) => response.flushHeaders());
  const controller = new AbortController();
  const stream = await clientOf(stub).stream({ ...watch, signal: controller.signal });
  const reading = rejectionOf(textOf(stream));
  controller.abort('over');
  expect(await reading).toBe('over');
  const [connection] = stub.connections;
  if (connection?.closed === false) await once(connection, 'close');
});

test('a reader that stops closes the connection', async () => {
  const stub = await startStub((response) => response.write('one'));
  for await (const chunk of await clientOf(stub).stream(watch)) {
    expect(String(chunk)).toBe('one');
    break;
  }
  const [connection] = stub.connections;
  if (connection?.closed === false) await once(connection, 'close');
});

test('streams take no places of requests, and return the places that they added', async () => {
  const stub = await startStub((response, { path }) => {
    if (path === '/watch') response.flushHeaders();
    else sendJson(response, {});
  });
  const client = clientOf(stub, { maxConnections: 2 });
  const controller = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: 10 }, () => client.stream({ ...watch, signal: controller.signal })),
  );
  const readings = streams.map((stream) => rejectionOf(textOf(stream)));
  await Promise.all(Array.from({ length: 20 }, () => client.request(get)));
  expect(stub.connections.length).toBeLessThanOrEqual(12);
  controller.abort('over');
  await Promise.all(readings);
  await eventually(() => stub.connections.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(2);
  const before = stub.connections.length;
  await Promise.all(Array.from({ length: 20 }, () => client.request(get)));
  expect(stub.connections.length - before).toBeLessThanOrEqual(2);
});

test('other certificates get connections of their own, and the old ones are closed', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  const { ca } = await stubCertificates();
  const [first, second] = ['', '\n'].map((end): Credentials => ({
    headers: {},
    tls: { ca: ca.certPem + end, rejectUnauthorized: true },
  }));
  if (first === undefined || second === undefined) throw new Error('there are two');
  let current = first;
  const client = clientOf(stub, {}, { authorize: () => Promise.resolve(current) });
  await client.request(get);
  current = second;
  await client.request(get);
  await client.request(get);
  expect(stub.connections).toHaveLength(2);
  await eventually(() => stub.connections.map(({ closed }) => closed)).toEqual([true, false]);
});
