// The load generator counts the answers of a server, and a run with a failed call gives no figures.
import { createServer, type Server } from 'node:https';
import { describe, expect, test } from 'vitest';
import { issueCertificates } from '../../../src/certs/issue/issue.ts';
import { openContext } from '../../bench/context.ts';
import { runLoad } from '../../bench/load.ts';
import { startEmptyServer } from '../../bench/server-process.ts';
import { findGo } from '../../cluster/go-program.ts';

const { skipIf } = describe;
const isRequired = process.env['REEVE_CLUSTER_TESTS'] === 'required';
const hasGo = (await findGo()) !== undefined;

async function serverThatAnswers(status: number, headers: Readonly<Record<string, string>>): Promise<Server> {
  const now = new Date();
  const request = { namespace: 'reeve-system', now, caLifetimeDays: 2, leafLifetimeDays: 1 };
  const { serving } = await issueCertificates(request);
  const server = createServer({ cert: serving.certPem, key: serving.keyPem }, (call, response) => {
    call.resume().on('end', () => response.writeHead(status, { ...headers }).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

skipIf(!hasGo && !isRequired)('the load generator', () => {
  test('each call is counted once, whatever the number of connections', async () => {
    await using opened = await openContext(true);
    await using empty = await startEmptyServer(opened.context, 100);
    const bodies = ['{}', 'x'.repeat(100_000)];
    const load = { port: empty.port, bodies, connections: 7, calls: 100, warmUp: 10 };
    const { requests, statuses, errors, answerBytes, p50, p99 } = await runLoad(opened.context, load);
    expect({ requests, statuses, errors, answerBytes }).toEqual({
      requests: 100,
      statuses: { 200: 100 },
      errors: 0,
      answerBytes: 100,
    });
    expect(p50).toBeGreaterThan(0);
    expect(p99).toBeGreaterThanOrEqual(p50);
  });

  test.for([
    ['an answer with another status', 503, {}, 'not all answers were 200: {"503":5}'],
    ['a server that closes connections', 200, { connection: 'close' }, '5 calls failed'],
  ] as const)('%s gives no figures', async ([, status, headers, message]) => {
    await using opened = await openContext(true);
    const server = await serverThatAnswers(status, headers);
    try {
      const load = { port: portOf(server), bodies: ['{}'], calls: 5 };
      await expect(runLoad(opened.context, load)).rejects.toThrow(message);
    } finally {
      server.close();
    }
  });
});
