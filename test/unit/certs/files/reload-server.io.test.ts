// A certificate changes under a real https server, and no connection notices.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { Server } from 'node:https';
import { TLSSocket } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchServingPair } from '../../../../src/certs/files/pair-files.ts';
import type { ServingPair } from '../../../../src/certs/files/serving-pair.ts';
import { makeTestFolder, makeTestIssuer, pairOf } from './issuer.ts';

interface Call {
  readonly fingerprint: string;
  readonly localPort: number;
}

async function startServer(pair: ServingPair): Promise<Server> {
  const options = { cert: pair.cert, key: pair.key, keepAliveTimeout: 600_000 };
  const server = createServer(options, (_, response) => response.end('ok'));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on a port');
  return address.port;
}

function makeAgent(ca: readonly string[]): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: [...ca] });
  onTestFinished(() => agent.destroy());
  return agent;
}

async function call(server: Server, agent: Agent): Promise<Call> {
  const options = {
    host: '127.0.0.1',
    port: portOf(server),
    agent,
    servername: 'reeve-webhook.reeve-system.svc',
  };
  const outgoing = request(options).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { socket } = response;
  if (!(socket instanceof TLSSocket)) throw new Error('the socket is a TLS socket');
  const found = { fingerprint: socket.getPeerCertificate().fingerprint256, localPort: socket.localPort ?? 0 };
  await once(response.resume(), 'end');
  return found;
}

test('new connections get the new certificate, and old connections stay open', async () => {
  // The client judges the certificates by the real clock, so they are issued by it.
  const now = new Date();
  const [issue, issueOther] = await Promise.all([makeTestIssuer(), makeTestIssuer()]);
  const issued = await Promise.all([issue({ now }), issueOther({ now }), issue({ now })] as const);
  const [first, second, third] = [pairOf(issued[0], now), pairOf(issued[1], now), pairOf(issued[2], now)];
  const authorities = issued.map(({ ca }) => ca.certPem);
  await using folder = await makeTestFolder();
  folder.put(first);
  const server = await startServer(first);
  const problems: string[] = [];
  const reloader = watchServingPair({
    certPath: folder.cert,
    keyPath: folder.key,
    current: first,
    apply: ({ cert, key }) => server.setSecureContext({ cert, key }),
    onProblem: (text) => problems.push(text),
    clock: { now: () => now },
    pollMilliseconds: 20,
    settleMilliseconds: 5,
  });
  onTestFinished(() => reloader.close());
  const kept = makeAgent(authorities);
  const before = await call(server, kept);
  expect(before.fingerprint).toBe(first.fingerprint);

  for (const pair of [second, third]) {
    folder.put(pair);
    await vi.waitUntil(() => reloader.current.fingerprint === pair.fingerprint, {
      timeout: 20_000,
      interval: 2,
    });
    expect(await call(server, kept)).toEqual(before);
    expect((await call(server, makeAgent(authorities))).fingerprint).toBe(pair.fingerprint);
  }

  folder.put({ cert: 'rubbish' });
  await vi.waitUntil(() => problems.length > 0, { timeout: 20_000, interval: 2 });
  expect(await call(server, kept)).toEqual(before);
  expect((await call(server, makeAgent(authorities))).fingerprint).toBe(third.fingerprint);
});
