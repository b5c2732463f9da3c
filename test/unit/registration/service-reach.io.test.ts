// A Service leads to a replica when a TLS server answers at its address.
import { createServer as createTcpServer, type Server } from 'node:net';
import { createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { issueCertificates } from '../../../src/certs/issue/issue.ts';
import { accepts } from '../../../src/registration/service-reach.ts';

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('a TLS server answers, whatever its certificate', async () => {
  const request = { namespace: 'other', now: new Date(), caLifetimeDays: 2, leafLifetimeDays: 1 };
  const { serving } = await issueCertificates(request);
  const server = createServer({ cert: serving.certPem, key: serving.keyPem });
  expect(await accepts('127.0.0.1', await portOf(server))).toBe(true);
  server.close();
});

test('a server that closes connections without TLS does not answer, and neither does a closed port', async () => {
  const server = createTcpServer((socket) => socket.end('no TLS'));
  const port = await portOf(server);
  expect(await accepts('127.0.0.1', port)).toBe(false);
  server.close();
  expect(await accepts('127.0.0.1', port)).toBe(false);
});
