// Rows of the webhook: `reeve serve` against an empty node:https server with the same sizes, in turn.
import { join } from 'node:path';
import { responseOf, reviewJson, namespaceObject } from '../../support/reviews.ts';
import { HttpsClient } from '../../support/https-client.ts';
import { folderOf } from '../../support/serve-process.ts';
import { policies } from '../bench-policies.ts';
import { runLoad, type LoadResult } from '../load.ts';
import type { BenchContext, Measurement, Samples } from '../row.ts';
import { startEmptyServer, startReeveServe } from '../server-process.ts';

const labels = { team: 't0', env: 'dev', 'pod-security.kubernetes.io/enforce': 'baseline' };
const annotations = { contact: 'team@example.com' };
const allowed = reviewJson(namespaceObject('shop', { labels, annotations }));

/** Node has compiled the code that matters after that many calls. */
const warmUpCalls = 3000;

/** Each value of a pair is what the load generator measured in one round. */
interface LoadRounds {
  readonly ours: readonly LoadResult[];
  readonly baseline: readonly LoadResult[];
}

type Send = (port: number) => Promise<LoadResult>;

/** Both servers keep running, and get load in turn. */
async function loadInTurn(rounds: number, ports: readonly [number, number], send: Send): Promise<LoadRounds> {
  const [ours, baseline]: [LoadResult[], LoadResult[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await send(ports[0]));
    baseline.push(await send(ports[1]));
  }
  return { ours, baseline };
}

function samplesOf({ ours, baseline }: LoadRounds, value: (result: LoadResult) => number): Samples {
  return { ours: ours.map(value), baseline: baseline.map(value) };
}

/** Returns the length of the answer, which the empty server imitates. */
async function allowedAnswer(port: number): Promise<number> {
  const client = new HttpsClient(port);
  const { body } = await client.post('/validate', allowed);
  client.close();
  if (!responseOf(body).allowed) throw new Error(`Reeve refuses the review: ${body}`);
  return Buffer.byteLength(body);
}

async function measureAllowed(context: BenchContext): Promise<Readonly<Record<string, Samples>>> {
  await using folder = await folderOf({ 'policies/policies.yaml': policies(1) });
  await using reeve = await startReeveServe(context, join(folder.path, 'policies'));
  await using empty = await startEmptyServer(context, await allowedAnswer(reeve.port));
  const ports = [reeve.port, empty.port] as const;
  for (const port of ports) await runLoad(context, { port, bodies: [allowed], calls: warmUpCalls });
  const single = await loadInTurn(context.rounds, ports, (port) =>
    runLoad(context, { port, bodies: [allowed], calls: 2000, warmUp: 200 }),
  );
  const many = { bodies: [allowed], connections: 32, calls: 20_000, warmUp: 2000 };
  const wide = await loadInTurn(context.rounds, ports, (port) => runLoad(context, { port, ...many }));
  return {
    'allow-p50': samplesOf(single, ({ p50 }) => p50),
    'allow-p99': samplesOf(single, ({ p99 }) => p99),
    throughput: samplesOf(wide, ({ perSecond }) => perSecond),
  };
}

export const reviewMeasurements: readonly Measurement[] = [
  { rows: ['allow-p50', 'allow-p99', 'throughput'], isQuick: true, measure: measureAllowed },
];
