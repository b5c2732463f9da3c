// Calls webhooks over a real TLS connection on loopback.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueCertificates } from '../../../../src/certs/issue/issue.ts';
import type { IssuedCertificates } from '../../../../src/certs/issue/issue.ts';
import type { ClientConfig } from '../../../../src/sandbox/admission/configurations.ts';
import { callWebhook } from '../../../../src/sandbox/admission/webhook-call.ts';

let certificates: IssuedCertificates;
let server: Server;
let answer: RequestListener;
let controller = new AbortController();

const issue = (namespace: string): Promise<IssuedCertificates> =>
  issueCertificates({ namespace, now: new Date(), caLifetimeDays: 2, leafLifetimeDays: 1 });

beforeAll(async () => {
  certificates = await issue('reeve-system');
  const { certPem: cert, keyPem: key } = certificates.serving;
  server = createServer({ cert, key }, (request, response) => answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const port = (): number => (server.address() as AddressInfo).port;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function service(changes: { readonly name?: string; readonly path?: string } = {}): ClientConfig {
  const reference = { name: 'reeve-webhook', namespace: 'reeve-system', path: '/validate', port: port() };
  return { service: { ...reference, ...changes }, caBundle: base64(certificates.ca.certPem) };
}

function limits(seconds = 30, signal = new AbortController().signal) {
  return { seconds, signal };
}

async function problem(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (error) {
    return error instanceof Error ? error.message : 'no error';
  }
}

const replying =
  (code: number, body: string): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(code).end(body);
  };

test('a service is called on this machine, by the name in its certificate', async () => {
  const seen: unknown[] = [];
  answer = (request, response) => {
    const { method, url, headers } = request;
    seen.push([method, url, headers.host, headers['content-type']]);
    request.pipe(response);
  };
  expect(await callWebhook(service(), { a: 1 }, limits(7))).toEqual({ a: 1 });
  const host = `reeve-webhook.reeve-system.svc:${port()}`;
  expect(seen).toEqual([['POST', '/validate?timeout=7s', host, 'application/json']]);
});

test.each(['127.0.0.1', 'localhost'])('a url of %s is called as given', async (host) => {
  answer = (request, response) => {
    response.end(JSON.stringify({ url: request.url }));
    request.resume();
  };
  const clientConfig = { url: `https://${host}:${port()}/a/b`, caBundle: base64(certificates.ca.certPem) };
  expect(await callWebhook(clientConfig, {}, limits())).toEqual({ url: '/a/b?timeout=30s' });
});

test('a certificate of another authority or with another name is not trusted', async () => {
  answer = replying(200, '{}');
  const { ca } = await issue('reeve-system');
  const untrusted = { ...service(), caBundle: base64(ca.certPem) };
  expect(await problem(callWebhook(untrusted, {}, limits()))).toMatch(
    /^failed to call webhook: Post "https:\/\/reeve-webhook\.reeve-system\.svc:\d+\/validate\?timeout=30s": tls: failed to verify/,
  );
  const other = service({ name: 'other' });
  expect(await problem(callWebhook(other, {}, limits()))).toContain('tls: failed to verify certificate');
  expect(await problem(callWebhook({ ...service(), caBundle: base64('none') }, {}, limits()))).toContain(
    'failed to call webhook: Post',
  );
});

test.each<[string, RequestListener, string]>([
  ['no success', replying(500, 'canary'), 'the server responded with the status code 500'],
  ['no JSON', replying(200, 'canary'), "couldn't get version/kind; json parse error"],
  ['a response without end', replying(200, ' '.repeat(3 * 1024 * 1024 + 1)), 'the response is longer than'],
])('%s is an error of the call', async (_, listener, why) => {
  answer = listener;
  const said = await problem(callWebhook(service(), {}, limits()));
  expect(said).toContain(why);
  expect(said).not.toContain('canary');
});

test('a refused connection is an error of the call', async () => {
  const closed = createServer();
  closed.listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port: free } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  const url = `https://127.0.0.1:${free}/`;
  expect(await problem(callWebhook({ url }, {}, limits()))).toBe(
    `failed to call webhook: Post "${url}?timeout=30s": connect: connection refused`,
  );
});

test('a call ends after its timeout', async () => {
  answer = (request) => request.resume();
  expect(await problem(callWebhook(service(), {}, limits(0.05)))).toContain('context deadline exceeded');
});

test.each<[string, RequestListener]>([
  ['before the answer', () => controller.abort()],
  [
    'within the answer',
    (_, response) => {
      response.write('{', () => controller.abort());
    },
  ],
])('a client that disconnects %s ends the call', async (_, listener) => {
  controller = new AbortController();
  answer = listener;
  const said = await problem(callWebhook(service(), {}, limits(30, controller.signal)));
  expect(said).toContain('failed to call webhook: Post');
});
