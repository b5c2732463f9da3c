// Size, time and numbers: how much a client may send, how long it may take, how many may send at once.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { HandlerPorts } from '../../src/admission/handler.ts';
import type { ServerLimits } from '../../src/admission/http/limits.ts';
import { eventually } from '../support/eventually.ts';
import { namespaceObject, responseOf, reviewJson } from '../support/reviews.ts';
import { snapshotOf } from '../support/engine.ts';
import { type TestWebhook, webhookOfEachTest } from '../support/test-webhook.ts';
import { exchange, openTls, parseAnswer, readAll, readUntil } from '../support/tls-client.ts';

const startWebhook = webhookOfEachTest();
const good = reviewJson(namespaceObject('team-a'));
const head = 'POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const close = 'Connection: close\r\n';
const mebibyte = 1024 * 1024;

async function start(
  limits: Partial<ServerLimits> = {},
  ports: Partial<HandlerPorts> = {},
): Promise<TestWebhook> {
  return await startWebhook(snapshotOf({}), ports, limits);
}

describe('size', () => {
  test('an announced body of 8 MiB gets 413, also while the client sends it', async () => {
    const { client, observer } = await start();
    expect((await client.post('/validate', Buffer.alloc(8 * mebibyte, 0x20))).code).toBe(413);
    expect(observer.refusals).toEqual([{ code: 413, reason: 'RequestEntityTooLarge' }]);
  });

  test('413 is sent before the client sends any of the body', async () => {
    const { port } = await start();
    const socket = await openTls(port);
    socket.write(`${head}Content-Length: ${8 * mebibyte}\r\n\r\n`);
    expect(parseAnswer(await readUntil(socket, /\r\n\r\n.+}$/)).code).toBe(413);
    socket.destroy();
  });

  test('endless chunks are cut at 7 MiB', async () => {
    const { port } = await start();
    const socket = await openTls(port);
    const answer = readUntil(socket, /\r\n\r\n.+}$/);
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 0x20), Buffer.from('\r\n')]);
    // 12 MiB: more than is read, and far from an end.
    const answered = new AbortController();
    const sentAll = answer.finally(() => answered.abort());
    for (let sent = 0; sent < 192 && !answered.signal.aborted; sent++) {
      if (!socket.write(chunk))
        await once(socket, 'drain', { signal: answered.signal }).catch(() => undefined);
    }
    await sentAll;
    expect(parseAnswer(await answer).code).toBe(413);
    socket.destroy();
  });

  test('a body of exactly the maximum size is read', async () => {
    const { client } = await start({ bodyBytes: good.length });
    expect((await client.post('/validate', good)).code).toBe(200);
    expect((await client.post('/validate', `${good} `)).code).toBe(413);
  });
});

describe('bytes of all requests together', () => {
  test('requests beyond the limit of bytes get 503 with Retry-After until others are answered', async () => {
    const { client, port, observer } = await start({ totalBodyBytes: good.length + 10 });
    const slow = await openTls(port);
    slow.write(`${head}${close}Content-Length: ${good.length}\r\n\r\n${good.slice(0, 100)}`);
    // The bytes count once they have arrived.
    await eventually(async () => (await client.post('/validate', good)).code).toBe(503);
    const refused = await client.post('/validate', good);
    expect(refused).toMatchObject({ code: 503, headers: { 'retry-after': '1' } });
    slow.write(good.slice(100));
    expect(parseAnswer(await readAll(slow)).code).toBe(200);
    expect((await client.post('/validate', good)).code).toBe(200);
    expect(observer.errors).toEqual([]);
  });

  test('announced bytes that are not sent do not count', async () => {
    const { client, port } = await start({ totalBodyBytes: 2 * good.length });
    const idle = await Promise.all(Array.from({ length: 20 }, () => openTls(port)));
    for (const socket of idle) socket.write(`${head}Content-Length: ${good.length}\r\n\r\n`);
    expect((await client.post('/validate', good)).code).toBe(200);
    for (const socket of idle) socket.destroy();
  });

  test('bytes of disconnected clients are released', async () => {
    const { client, port, observer } = await start({ totalBodyBytes: good.length + 10 });
    const socket = await openTls(port);
    socket.write(`${head}Content-Length: ${good.length}\r\n\r\n${good.slice(0, 100)}`);
    await eventually(() => observer.inFlight).toBe(1);
    socket.destroy();
    await eventually(() => observer.inFlight).toBe(0);
    expect((await client.post('/validate', good)).code).toBe(200);
    expect(observer.refusals).toContainEqual({ code: 499, reason: 'ClientGone' });
  });
});

describe('Expect: 100-continue', () => {
  test('a client that sends Expect: 100-continue gets 100 Continue', async () => {
    const { port } = await start();
    const socket = await openTls(port);
    const answer = readAll(socket);
    socket.write(`${head}${close}Expect: 100-continue\r\nContent-Length: ${good.length}\r\n\r\n`);
    socket.write(good);
    const text = await answer;
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  test.each([
    ['a body that is too large', `Content-Length: ${8 * mebibyte}\r\n`, 413],
    ['another media type', 'Content-Length: 10\r\nContent-Encoding: gzip\r\n', 415],
  ])('%s is refused without 100 Continue', async (_name, headers, code) => {
    const { port } = await start();
    const answer = await exchange(port, `${head}${close}Expect: 100-continue\r\n${headers}\r\n`);
    expect(parseAnswer(answer).code).toBe(code);
  });

  test('a client of HTTP/1.0 gets its answer without 100 Continue', async () => {
    const { port } = await start();
    const asking = `${head.replace('HTTP/1.1', 'HTTP/1.0')}Expect: 100-continue\r\nContent-Length: ${good.length}\r\n\r\n`;
    expect(await exchange(port, asking, good)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('another path is refused without 100 Continue', async () => {
    const { port } = await start();
    const asking = `${head.replace('/validate', '/none')}${close}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`;
    expect(parseAnswer(await exchange(port, asking)).code).toBe(404);
  });
});

describe('time', () => {
  const quick = { headersMs: 100, requestMs: 200, checkMs: 20 };

  test('headers that do not arrive get 408', async () => {
    const { port, observer } = await start(quick);
    expect(parseAnswer(await exchange(port, 'POST /validate HTTP/1.1\r\nHost: x\r\n')).code).toBe(408);
    expect(observer.refusals).toEqual([{ code: 408, reason: 'Timeout' }]);
  });

  test('a new connection without a request stays open as long as an idle one', async () => {
    const { client, port, observer } = await start(quick);
    const unused = await openTls(port);
    // Begun later, so that its time is over later too.
    expect(parseAnswer(await exchange(port, 'POST /validate HTTP/1.1\r\nHost: x\r\n')).code).toBe(408);
    unused.write(`${head}${close}Content-Length: ${good.length}\r\n\r\n${good}`);
    expect(parseAnswer(await readAll(unused)).code).toBe(200);
    expect(observer.refusals).toHaveLength(1);
    expect((await client.post('/validate', good)).code).toBe(200);
  });

  test('a connection that is never used is closed like an idle one', async () => {
    const { port, observer } = await start({ ...quick, keepAliveMs: 100 });
    expect(await exchange(port)).toBe('');
    expect(observer.refusals).toEqual([]);
  });

  test('a late first request must complete in time from its first byte', async () => {
    const { port } = await start(quick);
    const unused = await openTls(port);
    await exchange(port, 'POST /validate HTTP/1.1\r\nHost: x\r\n');
    unused.write('POST /validate HTTP/1.1\r\nHost: x\r\n');
    expect(parseAnswer(await readAll(unused)).code).toBe(408);
  });

  test('a body that does not arrive gets 408', async () => {
    const { port } = await start(quick);
    expect(parseAnswer(await exchange(port, `${head}Content-Length: 10\r\n\r\n{`)).code).toBe(408);
  });

  test('a body that does not arrive within ?timeout gets 408', async () => {
    // Otherwise the limit of the server for a whole request would give the same answer, later.
    const { port } = await start({ requestMs: 3_600_000 });
    const asking = head.replace('/validate', '/validate?timeout=50ms');
    expect(parseAnswer(await exchange(port, `${asking}Content-Length: 10\r\n\r\n{`)).code).toBe(408);
  });

  test('a handshake that does not complete ends the connection', async () => {
    const { port, observer } = await start({ handshakeMs: 100 });
    const { connect } = await import('node:net');
    const socket = connect(port, '127.0.0.1');
    expect(await readAll(socket)).toBe('');
    expect(observer.refusals).toEqual([{ code: 525, reason: 'TlsHandshake' }]);
  });

  test('slow clients do not delay others', async () => {
    const { client, port } = await start();
    const slow = await Promise.all(Array.from({ length: 100 }, () => openTls(port)));
    for (const socket of slow) socket.write('POST /validate HTTP/1.1\r\nHost:');
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.post('/validate', good)));
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([200]));
    for (const socket of slow) socket.destroy();
  });
});

describe('clients that disconnect', () => {
  test('a client that disconnects in the middle of a body or before the answer causes no error', async () => {
    const found = Promise.withResolvers<undefined>();
    const snapshot = snapshotOf({ secrets: { secrets: { maxBytes: 1 } } });
    const { client, port, observer } = await start(
      {},
      { snapshot: () => snapshot, namespaces: { find: () => found.promise } },
    );
    const secret = reviewJson({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' } });
    const leaving = await Promise.all(Array.from({ length: 20 }, () => openTls(port)));
    for (const [index, socket] of leaving.entries()) {
      const sent = index % 2 === 0 ? secret : secret.slice(0, 50);
      socket.write(`${head}Content-Length: ${secret.length}\r\n\r\n${sent}`);
    }
    await eventually(() => observer.inFlight).toBe(20);
    for (const socket of leaving) socket.destroy();
    await eventually(() => observer.inFlight).toBe(10);
    found.resolve(undefined);
    await eventually(() => observer.inFlight).toBe(0);
    await sleep(0);
    expect(observer.errors).toEqual([]);
    expect(responseOf((await client.post('/validate', good)).body).allowed).toBe(true);
  });
});

test('connections beyond the maximum are closed', async () => {
  const { port } = await start({ connections: 3 });
  const open = await Promise.all(Array.from({ length: 3 }, () => openTls(port)));
  await expect(openTls(port)).rejects.toBeInstanceOf(Error);
  for (const socket of open) socket.destroy();
});
