// Connections go to the replicas that are ready, in turn, and to no other.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { Balancer } from '../../support/balancer.ts';
import type { Replica } from '../../support/balancer.ts';
import { eventually } from '../../support/eventually.ts';

/** Answers what it is sent with its name before it. */
class TestReplica implements Replica {
  isReady = true;
  port = 0;
  probesPort = 0;
  readonly #server: Server;
  readonly #probes = createHttpServer((request, response) => {
    response.statusCode = request.url === '/readyz' && this.isReady ? 200 : 503;
    response.end();
  });

  constructor(name: string) {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined);
      void text(socket).then((received) => socket.end(`${name} got ${received}`));
    });
  }

  async start(): Promise<this> {
    this.port = await listen(this.#server);
    this.probesPort = await listen(this.#probes);
    return this;
  }

  stopServing(): void {
    this.#server.close();
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#probes.close();
    this.#probes.closeAllConnections();
  }
}

test('each replica in its turn', async () => {
  using a = await new TestReplica('a').start();
  using b = await new TestReplica('b').start();
  await using balancer = new Balancer([a, b]);
  const port = await balancer.listen();
  await eventually(() => balancer.ready).toEqual([a, b]);
  const answers = [await ask(port), await ask(port), await ask(port), await ask(port)];
  expect(answers).toEqual(['a got x', 'b got x', 'a got x', 'b got x']);
});

test('only those that are ready, and those again that become so', async () => {
  using a = await new TestReplica('a').start();
  using b = await new TestReplica('b').start();
  await using balancer = new Balancer([a, b]);
  const port = await balancer.listen();
  a.isReady = false;
  await eventually(() => balancer.ready).toEqual([b]);
  expect([await ask(port), await ask(port)]).toEqual(['b got x', 'b got x']);
  a.isReady = true;
  await eventually(() => balancer.ready).toEqual([a, b]);
});

test('the next one when one has just gone', async () => {
  using a = await new TestReplica('a').start();
  using b = await new TestReplica('b').start();
  await using balancer = new Balancer([a, b]);
  const port = await balancer.listen();
  await eventually(() => balancer.ready).toEqual([a, b]);
  a.stopServing();
  expect([await ask(port), await ask(port)]).toEqual(['b got x', 'b got x']);
});

test('no backend is chosen when none is ready', async () => {
  using a = await new TestReplica('a').start();
  a.isReady = false;
  await using balancer = new Balancer([a]);
  expect(await ask(await balancer.listen())).toBe('');
});

test('other replicas from now on', async () => {
  using a = await new TestReplica('a').start();
  using b = await new TestReplica('b').start();
  await using balancer = new Balancer([a]);
  const port = await balancer.listen();
  await eventually(() => balancer.ready).toEqual([a]);
  balancer.setReplicas([b]);
  await eventually(() => balancer.ready).toEqual([b]);
  expect(await ask(port)).toBe('b got x');
});

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The empty text when there is no answer. */
async function ask(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end('x');
  return await text(socket).catch(() => '');
}
