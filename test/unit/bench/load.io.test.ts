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
    const load = { servers: [empty], bodies, connections: 7, calls: 100, warmUp: 10 };
    const [[result] = []] = await runLoad(opened.context, load);
    expect(result).toMatchObject({ requests: 100, statuses: { 200: 100 }, errors: 0, answerBytes: 100 });
    expect(result?.p50).toBeGreaterThan(0);
    expect(result?.p99).toBeGreaterThanOrEqual(result?.p50 ?? Number.NaN);
  });

  test('each round has a result for each server, in the order of the servers', async () => {
    await using opened = await openContext(true);
    await using short = await startEmptyServer(opened.context, 100);
    await using long = await startEmptyServer(opened.context, 200);
    const load = { servers: [short, long], bodies: ['{}'], connections: 3, calls: 20, slices: 4, rounds: 2 };
    const rounds = await runLoad(opened.context, load);
    const counted = rounds.map((results) => results.map((each) => [each.requests, each.answerBytes]));
    const one = [
      [20, 100],
      [20, 200],
    ];
    expect(counted).toEqual([one, one]);
  });

  test('the second stream goes to the first server', async () => {
    await using opened = await openContext(true);
    await using empty = await startEmptyServer(opened.context, 100);
    const load = { servers: [empty, empty], bodies: ['{}'], calls: 5, sideBody: 'x' };
    const [[first, second] = []] = await runLoad(opened.context, load);
    expect(first?.side?.requests).toBeGreaterThan(0);
    expect(second?.side).toBeUndefined();
  });

  test.for([
    ['an answer with another status', 503, {}, 'not all answers were 200: {"503":5}'],
    ['a server that closes connections', 200, { connection: 'close' }, '5 calls failed'],
  ] as const)('%s gives no figures', async ([, status, headers, message]) => {
    await using opened = await openContext(true);
    const server = await serverThatAnswers(status, headers);
    try {
      const load = { servers: [{ port: portOf(server) }], bodies: ['{}'], calls: 5 };
      await expect(runLoad(opened.context, load)).rejects.toThrow(message);
    } finally {
      server.close();
    }
  });
});
