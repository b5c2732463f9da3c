// What a proxy that fails on demand does to those who are connected, and to those who come later.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished, expect, test } from 'vitest';
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.ts';
import { eventually } from '../../support/eventually.ts';

/** A proxy before a server that sends back what it is sent. */
async function proxyToEcho(): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startFaultProxy({ port: (server.address() as AddressInfo).port });
  onTestFinished(() => {
    proxy.close();
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return proxy;
}

class Client {
  received = '';
  /** Why it ended. */
  end: string | undefined;
  readonly #socket: Socket;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1' });
    this.#socket.setEncoding('utf8').on('data', (text: string) => (this.received += text));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => (this.end = error.code));
    this.#socket.on('close', () => (this.end ??= 'closed'));
    onTestFinished(() => void this.#socket.destroy());
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  finish(): void {
    this.#socket.end();
  }
}

async function connected(proxy: FaultProxy, text = 'hello'): Promise<Client> {
  const client = new Client(proxy.port);
  client.send(text);
  await eventually(() => client.received).toBe(text);
  return client;
}

test('it hands on what both sides send, and their ends', async () => {
  const proxy = await proxyToEcho();
  const client = await connected(proxy);
  client.finish();
  await eventually(() => client.end).toBe('closed');
  await eventually(() => proxy.connections).toBe(0);
});

test('a cut resets open connections, and no others', async () => {
  const proxy = await proxyToEcho();
  const client = await connected(proxy);
  proxy.cut();
  await eventually(() => client.end).toBe('ECONNRESET');
  await connected(proxy);
});

test('again and again, until it is healed', async () => {
  const proxy = await proxyToEcho();
  proxy.cutAgainAndAgain(1);
  for (const _ of [1, 2, 3]) {
    const client = new Client(proxy.port);
    await eventually(() => client.end).toBe('ECONNRESET');
  }
  await proxy.heal();
  await connected(proxy);
});

test('it refuses newcomers, and takes them again on the same port', async () => {
  const proxy = await proxyToEcho();
  const { port } = proxy;
  const client = await connected(proxy);
  proxy.refuse();
  const refused = new Client(port);
  await eventually(() => refused.end).toBe('ECONNREFUSED');
  client.send('!');
  await eventually(() => client.received).toBe('hello!');
  await proxy.heal();
  expect(proxy.port).toBe(port);
  await connected(proxy);
});

test('it forgets those who are connected, who hear nothing of it', async () => {
  const proxy = await proxyToEcho();
  const client = await connected(proxy);
  proxy.silence('open');
  client.send('swallowed');
  // Later than that, and there all the same.
  await connected(proxy);
  expect([client.received, client.end]).toEqual(['hello', undefined]);
});

test('it forgets newcomers as well, until it is healed', async () => {
  const proxy = await proxyToEcho();
  proxy.silence('all');
  const client = new Client(proxy.port);
  client.send('swallowed');
  await eventually(() => proxy.connections).toBe(1);
  await proxy.heal();
  await connected(proxy);
  expect([client.received, client.end]).toEqual(['', undefined]);
});

test('what is delayed comes whole and in order', async () => {
  const proxy = await proxyToEcho();
  const client = await connected(proxy);
  proxy.delay(5);
  for (const text of ['one', 'two', 'three']) client.send(text);
  client.finish();
  await eventually(() => client.end).toBe('closed');
  expect(client.received).toBe('helloonetwothree');
});
