// What a flood of slow clients leaves in the server: nothing that JavaScript can reach.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { snapshotOf } from '../support/engine.ts';
import { issueTestPair, startTestWebhook } from '../support/test-webhook.ts';
import { openTls } from '../support/tls-client.ts';

const count = 200;
const begun =
  'POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';

/** Opens clients that stop in the middle: of the body, of the head, before the head, and before the handshake. */
async function flood(port: number): Promise<void> {
  const clients = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      if (index % 4 === 0) return connect(port, '127.0.0.1').on('error', () => undefined);
      const socket = await openTls(port);
      if (index % 4 === 1) socket.write(begun);
      if (index % 4 === 2) socket.write('POST /vali');
      return socket;
    }),
  );
  for (const client of clients) {
    client.resume();
    if (!client.closed) await new Promise((resolve) => client.once('close', resolve));
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('after floods of slow clients, no connection and no object of a connection is kept', async () => {
  const limits = { handshakeMs: 1000, headersMs: 1000, requestMs: 1000, keepAliveMs: 1000, checkMs: 100 };
  const target = await startTestWebhook(await issueTestPair(), snapshotOf({}), {}, limits);
  const { webhook, port, observer } = target;
  const sockets: WeakRef<object>[] = [];
  const accepted = (message: unknown): void => {
    sockets.push(new WeakRef((message as { readonly socket: object }).socket));
  };
  subscribe('net.server.socket', accepted);
  try {
    await flood(port);
    await flood(port);
  } finally {
    unsubscribe('net.server.socket', accepted);
  }
  expect(sockets).toHaveLength(2 * count);
  const connections = (): Promise<number> =>
    new Promise((resolve) => webhook.server.getConnections((_error, open) => resolve(open)));
  await eventually(connections).toBe(0);
  expect([webhook.inFlight, observer.inFlight]).toEqual([0, 0]);
  await eventually(() => {
    collectGarbage();
    return sockets.filter((socket) => socket.deref() !== undefined).length;
  }).toBe(0);
  await target.close();
});
