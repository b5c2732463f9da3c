// Clients that send requests before they have the answers: each request is answered, and unread answers stay bounded.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { serverLimits, type ServerLimits } from '../../src/admission/http/limits.ts';
import { WebhookServer, type TlsPair } from '../../src/admission/http/webhook-server.ts';
import { eventually } from '../support/eventually.ts';
import { namespaceObject, requestFor, reviewJson, reviewOf } from '../support/reviews.ts';
import { snapshotOf } from '../support/engine.ts';
import { issueTestPair, startTestWebhook } from '../support/test-webhook.ts';
import { exchange, openTls, readAll, readUntil } from '../support/tls-client.ts';

let pair: TlsPair;
const get = 'GET / HTTP/1.1\r\nHost: x\r\n';
const closing = `${get}Connection: close\r\n\r\n`;
/** More than the socket of the server buffers. */
const largeAnswer = Buffer.alloc(100_000, 'x');

beforeAll(async () => {
  pair = await issueTestPair();
});

function post(body: string): string {
  return `POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Starts a server that answers each request at once with a large body. */
async function startLarge(limits: Partial<ServerLimits> = {}) {
  const state: { answered: number; socket?: Socket } = { answered: 0 };
  const app: RequestListener = (request, response) => {
    state.answered += 1;
    state.socket = request.socket;
    response.end(largeAnswer);
  };
  const ignore = (): void => undefined;
  const observer = {
    decided: ignore,
    refusedTransport: ignore,
    failed: ignore,
    began: ignore,
    ended: ignore,
  };
  const { server } = new WebhookServer(pair, app, { ...serverLimits, ...limits }, observer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { state, port: (server.address() as AddressInfo).port };
}

test('each of 4000 pipelined reviews is answered, in their order', async () => {
  const target = await startTestWebhook(pair, snapshotOf({}));
  onTestFinished(() => target.close());
  const uids = Array.from({ length: 4000 }, (_, index) => `uid-${index}`);
  const reviews = uids.map((uid) =>
    post(JSON.stringify(reviewOf(requestFor(namespaceObject('team-a'), { uid })))),
  );
  const answers = await exchange(target.port, `${reviews.join('')}${closing}`);
  expect([...answers.matchAll(/"uid":"(uid-\d+)"/g)].map(([, uid]) => uid)).toEqual(uids);
  expect(target.observer.refusals.map(({ code }) => code)).toEqual([404]);
});

test('a client that reads no answers is not read any further until it reads them', async () => {
  const { state, port } = await startLarge();
  const requests = 2000;
  const client = await openTls(port);
  client.write(`${`${get}\r\n`.repeat(requests)}${closing}`);
  await eventually(() => state.socket?.isPaused()).toBe(true);
  expect(state.answered).toBeLessThan(requests / 2);
  let bytes = 0;
  client.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await once(client, 'close');
  expect(state.answered).toBe(requests + 1);
  expect(bytes).toBeGreaterThan(requests * largeAnswer.length);
});

test('a client that sent its second request while a large answer was sent can send a third one', async () => {
  const { state, port } = await startLarge();
  const client = await openTls(port);
  client.write(`${get}\r\n${get}\r\n`);
  await eventually(() => state.answered).toBe(2);
  expect(await readUntil(client, /x$/)).toContain('200 OK');
  client.write(closing);
  await readAll(client);
  expect(state.answered).toBe(3);
});

test('a request that stays incomplete behind unread answers ends its connection alone', async () => {
  const { state, port } = await startLarge({ headersMs: 100, requestMs: 200, checkMs: 20 });
  const client = await openTls(port);
  // The server stops to read within the body of a request.
  client.write(post(reviewJson(namespaceObject('n'.repeat(3000)))).repeat(500));
  await eventually(() => state.socket?.destroyed).toBe(true);
  expect(state.answered).toBeLessThan(500);
  client.destroy();
  expect(await exchange(port, closing)).toContain('200 OK');
});
