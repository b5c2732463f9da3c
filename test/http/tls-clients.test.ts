// TLS clients of every kind: a correct one is served, any other is refused, and the server goes on.
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { namespaceObject, reviewJson } from '../support/reviews.ts';
import { snapshotOf } from '../support/engine.ts';
import { issueTestPair, startTestWebhook, type TestWebhook } from '../support/test-webhook.ts';
import { openTls, parseAnswer, readAll } from '../support/tls-client.ts';

let target: TestWebhook;
const good = reviewJson(namespaceObject('team-a'));
const request =
  'POST /validate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n' +
  `Content-Length: ${good.length}\r\n\r\n${good}`;

beforeAll(async () => {
  target = await startTestWebhook(await issueTestPair(), snapshotOf({}));
});
beforeEach(() => {
  target.observer.refusals.length = 0;
});
afterAll(() => target.close());

async function handshakeError(options: ConnectionOptions): Promise<unknown> {
  const socket = connect({ host: '127.0.0.1', port: target.port, rejectUnauthorized: false, ...options });
  const outcome = Promise.withResolvers<unknown>();
  socket.once('error', outcome.resolve).once('secureConnect', () => outcome.resolve(undefined));
  const error = await outcome.promise;
  socket.destroy();
  return error;
}

describe('clients that are served', () => {
  const rows: readonly (readonly [string, ConnectionOptions])[] = [
    ['the name of the service', { servername: 'reeve-webhook.reeve-system.svc' }],
    ['another name', { servername: 'somebody.else.example.com' }],
    ['no name', { servername: '' }],
    ['TLS 1.2', { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }],
    ['TLS 1.3', { minVersion: 'TLSv1.3' }],
    ['no ALPN', {}],
    ['http/1.1', { ALPNProtocols: ['http/1.1'] }],
    ['a choice of h2 and http/1.1', { ALPNProtocols: ['h2', 'http/1.1'] }],
  ];
  test.each(rows)('%s', async (_name, options) => {
    const socket = await openTls(target.port, options);
    expect(socket.alpnProtocol).toBe(options.ALPNProtocols === undefined ? false : 'http/1.1');
    const answer = readAll(socket);
    socket.write(request);
    expect(parseAnswer(await answer).code).toBe(200);
  });

  test('the certificate is valid for the name of the Service and for localhost', async () => {
    const socket = await openTls(target.port);
    const { subjectaltname } = socket.getPeerCertificate();
    expect(subjectaltname).toContain('DNS:reeve-webhook.reeve-system.svc');
    expect(subjectaltname).toContain('DNS:localhost');
    socket.destroy();
  });
});

describe('clients that are refused', () => {
  const rows: readonly (readonly [string, ConnectionOptions])[] = [
    ['TLS 1.0', { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }],
    ['TLS 1.1', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
    ['h2 alone', { ALPNProtocols: ['h2'] }],
    ['ciphers that nobody should use', { maxVersion: 'TLSv1.2', ciphers: 'NULL-SHA256:@SECLEVEL=0' }],
  ];
  test.each(rows)('%s', async (_name, options) => {
    expect(await handshakeError(options)).toBeInstanceOf(Error);
    await eventually(() => target.observer.refusals).toContainEqual({ code: 525, reason: 'TlsHandshake' });
  });

  const garbage: readonly (readonly [string, Uint8Array])[] = [
    ['plain HTTP', Buffer.from('GET /validate HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['zeros', Buffer.alloc(1000)],
    [
      'a record of a wrong length',
      Buffer.from([0x16, 0x03, 0x01, 0xff, 0xff, ...Array.from({ length: 500 }, () => 1)]),
    ],
    [
      'a huge ClientHello',
      Buffer.concat([Buffer.from([0x16, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff]), Buffer.alloc(70_000, 65)]),
    ],
    ['SSH', Buffer.from('SSH-2.0-OpenSSH_9.9\r\n')],
  ];
  test.each(garbage)('%s', async (_name, bytes) => {
    const socket = connectPlain(target.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const answer = readAll(socket);
    socket.write(bytes);
    expect(await answer).not.toContain('HTTP/');
    await eventually(() => target.observer.refusals.length).toBeGreaterThan(0);
  });

  test('renegotiation is refused', async () => {
    const socket = await openTls(target.port, { maxVersion: 'TLSv1.2' });
    const outcome = Promise.withResolvers<unknown>();
    socket.renegotiate({ rejectUnauthorized: false }, outcome.resolve);
    socket.once('close', () => outcome.resolve('closed')).once('error', outcome.resolve);
    expect(await outcome.promise).not.toBeNull();
    socket.destroy();
  });
});

describe('half-open connections', () => {
  test('a client that closes its side still gets its answer', async () => {
    const socket = await openTls(target.port);
    const answer = readAll(socket);
    socket.end(request);
    expect(parseAnswer(await answer).code).toBe(200);
  });

  test('a client that disconnects during the handshake causes no error', async () => {
    const socket = connectPlain(target.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(Buffer.from([0x16, 0x03, 0x01]));
    socket.resetAndDestroy();
    await eventually(() => target.observer.refusals.length).toBeGreaterThan(0);
    expect(target.observer.refusals).toEqual([{ code: 525, reason: 'TlsHandshake' }]);
  });
});

test('the server still answers', async () => {
  expect((await target.client.post('/validate', good)).code).toBe(200);
  expect(target.observer.errors).toEqual([]);
});
