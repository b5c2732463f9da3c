// Sends requests to the API server and reads the answers, including every kind of error.
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import type { KubeRequest } from '../../../../src/kube/http/client.ts';
import type { Credentials } from '../../../../src/kube/http/http-exchange.ts';
import { clientOf, rejectionOf, sendJson, startStub, statusOf } from '../stub-api-server.ts';

const get: KubeRequest = { method: 'GET', path: '/api/v1/namespaces/x' };

test('method, path, query, headers and body are sent unchanged', async () => {
  const stub = await startStub((response) => sendJson(response, { kind: 'Secret' }));
  const answer = await clientOf(stub, { userAgent: 'reeve/1' }).request({
    method: 'PATCH',
    path: '/api/v1/namespaces/x/secrets/a%2Fb',
    query: { fieldManager: 'reeve', labelSelector: 'a=b,c in (d, e)' },
    contentType: 'application/apply-patch+yaml',
    accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    body: { data: { key: 'Wert: ü' } },
  });
  expect(answer).toEqual({ kind: 'Secret' });
  const [seen] = stub.requests;
  expect(seen).toMatchObject({
    method: 'PATCH',
    path: '/api/v1/namespaces/x/secrets/a%2Fb',
    query: { fieldManager: 'reeve', labelSelector: 'a=b,c in (d, e)' },
    body: { data: { key: 'Wert: ü' } },
  });
  expect(seen?.headers).toMatchObject({
    'content-type': 'application/apply-patch+yaml',
    accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    'user-agent': 'reeve/1',
    authorization: 'Bearer good',
  });
  expect(seen?.headers).not.toHaveProperty('accept-encoding');
});

test('the path of the server URL precedes every path', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  await clientOf(stub, {}, { server: new URL('/clusters/one/', stub.url) }).request(get);
  expect(stub.requests[0]?.path).toBe('/clusters/one/api/v1/namespaces/x');
});

test('the data key __proto__ of a Secret is an ordinary key in requests and answers', async () => {
  const secret = '{"kind":"Secret","data":{"__proto__":"YQ==","constructor":"Yg==","toString":"Yw=="}}';
  const bodies: string[] = [];
  const stub = await startStub((response, { body }) => {
    bodies.push(JSON.stringify(body));
    response.end(secret);
  });
  const client = clientOf(stub);
  const answer = await client.request(get);
  const data = answer['data'] as object;
  expect(Object.keys(data)).toEqual(['__proto__', 'constructor', 'toString']);
  expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
  await client.request({ method: 'POST', path: '/x', body: answer });
  expect(bodies.at(-1)).toBe(secret);
});

test.each<[string, string, object]>([
  ['text that is not JSON', 'garbage', { code: 200, reason: 'MalformedAnswer', retryable: true }],
  ['JSON that is not an object', '"text"', { code: 200, reason: 'MalformedAnswer' }],
  ['an empty body', '', { code: 200, reason: 'MalformedAnswer' }],
  ['too many bytes', `{"x":"${'x'.repeat(2000)}"}`, { code: 200, reason: 'AnswerTooLong', retryable: false }],
])('an answer with status 200 and %s rejects', async (_, body, expected) => {
  const stub = await startStub((response) => response.end(body));
  const error = await rejectionOf(clientOf(stub, { maxAnswerBytes: 1000 }).request(get));
  expect(error).toBeInstanceOf(KubeError);
  expect(error).toMatchObject(expected);
});

test.each([
  ['with a length', { 'Content-Length': '100' }],
  ['in chunks', {}],
])('an answer %s that ends too early rejects', async (_, headers) => {
  const stub = await startStub((response) => {
    response.writeHead(200, headers).write('{"a":');
    response.socket?.end();
  });
  expect(await rejectionOf(clientOf(stub).request(get))).toMatchObject({
    code: 0,
    reason: 'ECONNRESET',
    retryable: true,
  });
});

test('a closed port rejects with ECONNREFUSED', async () => {
  const stub = await startStub(() => undefined);
  const server = new URL(stub.url);
  server.port = '1';
  expect(await rejectionOf(clientOf(stub, {}, { server }).request(get))).toMatchObject({
    code: 0,
    reason: 'ECONNREFUSED',
    retryable: true,
  });
});

test('a server with an unknown certificate gets no request', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  const distrusting: Credentials = { headers: {}, tls: { rejectUnauthorized: true } };
  const client = clientOf(stub, {}, { authorize: () => Promise.resolve(distrusting) });
  expect(await rejectionOf(client.request(get))).toMatchObject({ code: 0, retryable: true });
  expect(stub.requests).toEqual([]);
});

test.each(['/a b', '/a\nb'])('the path %j, which HTTP does not allow, rejects', async (path) => {
  const stub = await startStub((response) => sendJson(response, {}));
  const error = await rejectionOf(clientOf(stub).request({ method: 'GET', path }));
  expect(error).toMatchObject({ code: 0, reason: 'ERR_UNESCAPED_CHARACTERS', retryable: false });
});

test('a server that never answers leads to Timeout', async () => {
  const stub = await startStub(() => undefined);
  const error = await rejectionOf(clientOf(stub, { timeoutMs: 50 }).request(get));
  expect(error).toBeInstanceOf(KubeError);
  expect(error).toMatchObject({ code: 0, reason: 'Timeout', retryable: true });
});

test('a body that never ends leads to Timeout', async () => {
  const stub = await startStub((response) => response.write('{'));
  const error = await rejectionOf(clientOf(stub).request({ ...get, timeoutMs: 100 }));
  expect(error).toMatchObject({ code: 0, reason: 'Timeout' });
});

test('credentials that take too long lead to Timeout', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  const client = clientOf(stub, { timeoutMs: 50 }, { authorize: () => new Promise(() => undefined) });
  expect(await rejectionOf(client.request(get))).toMatchObject({ code: 0, reason: 'Timeout' });
});

test('an abort rejects with its reason, and closes the connection', async () => {
  const controller = new AbortController();
  const reason = new Error('lost the lease');
  const stub = await startStub(() => controller.abort(reason));
  const error = await rejectionOf(clientOf(stub).request({ ...get, signal: controller.signal }));
  expect(error).toBe(reason);
  const [connection] = stub.connections;
  if (connection?.closed === false) await once(connection, 'close');
});

test('an abort during the body rejects with its reason', async () => {
  const controller = new AbortController();
  const stub = await startStub((response) => {
    response.write('{"a":', () => controller.abort('enough'));
  });
  expect(await rejectionOf(clientOf(stub).request({ ...get, signal: controller.signal }))).toBe('enough');
});

test('an aborted signal sends no request', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  const signal = AbortSignal.abort('no');
  const client = clientOf(stub);
  expect(await rejectionOf(client.request({ ...get, signal }))).toBe('no');
  expect(await rejectionOf(client.stream({ ...get, signal }))).toBe('no');
  expect(stub.connections).toEqual([]);
});

test('no request is sent without credentials', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  const cause = new Error('the plugin is missing');
  const error = await rejectionOf(
    clientOf(stub, {}, { authorize: () => Promise.reject(cause) }).request(get),
  );
  expect(error).toMatchObject({ code: 0, reason: 'NoCredentials', retryable: true, cause });
  expect(stub.requests).toEqual([]);
});

test('no request is sent after close', async () => {
  const stub = await startStub((response) => sendJson(response, {}));
  const client = clientOf(stub);
  await client.request(get);
  client.close();
  expect(await rejectionOf(client.request(get))).toMatchObject({ reason: 'ClientClosed', retryable: false });
  expect(stub.requests).toHaveLength(1);
});

const withToken = (token: string, ca: string): Credentials => ({
  headers: { Authorization: `Bearer ${token}` },
  tls: { ca, rejectUnauthorized: true },
});

test('after a 401 the credentials are renewed once, and the request is sent again', async () => {
  const stub = await startStub((response, { headers }) => {
    if (headers.authorization === 'Bearer new') sendJson(response, { ok: true });
    else sendJson(response, statusOf(401, 'Unauthorized'), 401);
  });
  const refused: Credentials[] = [];
  const old = withToken('old', stub.ca);
  const client = clientOf(
    stub,
    {},
    {
      authorize: () => Promise.resolve(old),
      renew: (credentials) => {
        refused.push(credentials);
        return Promise.resolve(withToken('new', stub.ca));
      },
    },
  );
  expect(await client.request({ method: 'POST', path: '/x', body: { a: 1 } })).toEqual({ ok: true });
  expect(stub.requests.map(({ headers, body }) => [headers.authorization, body])).toEqual([
    ['Bearer old', { a: 1 }],
    ['Bearer new', { a: 1 }],
  ]);
  expect(refused).toEqual([old]);
});

test.each<[string, (old: Credentials, ca: string) => Promise<Credentials>, number]>([
  ['there are no new ones', (old) => Promise.resolve(old), 1],
  ['they cannot be read', () => Promise.reject(new Error('gone')), 1],
  ['the new ones are refused as well', (_, ca) => Promise.resolve(withToken('new', ca)), 2],
])('each 401 is reported when credentials are refused and %s', async (_, renew, sent) => {
  const stub = await startStub((response) => sendJson(response, statusOf(401, 'Unauthorized'), 401));
  const old = withToken('old', stub.ca);
  const reported: number[] = [];
  const client = clientOf(
    stub,
    { onRefused: (code) => reported.push(code) },
    { authorize: () => Promise.resolve(old), renew: (c) => renew(c, stub.ca) },
  );
  expect(await rejectionOf(client.request(get))).toMatchObject({ code: 401, reason: 'Unauthorized' });
  expect(stub.requests).toHaveLength(sent);
  expect(reported).toEqual(Array.from({ length: sent }, () => 401));
});
