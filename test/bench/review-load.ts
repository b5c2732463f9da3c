// Reviews that the bench sends, and rounds of load in which two servers take turns.
import { HttpsClient } from '../support/https-client.ts';
import { responseOf, type Response } from '../support/reviews.ts';
import { runLoad, type Load, type LoadResult } from './load.ts';
import type { BenchContext, Samples } from './row.ts';
import { startEmptyServer, type BenchServer } from './server-process.ts';

/** Each pair of values is what the load generator measured in one round. */
interface LoadRounds {
  readonly ours: readonly LoadResult[];
  readonly baseline: readonly LoadResult[];
}

type Ports = readonly [ours: number, baseline: number];

/** Rounds of reviews take tenths of a second. Many short rounds give less noise than few long ones. */
function roundCount({ isQuick, rounds }: BenchContext): number {
  return rounds * (isQuick ? 2 : 4);
}

/** Node has compiled the code that matters after that many calls. */
const warmUpCalls = 5000;

/** Both servers keep running, and get the same load in turn. */
export async function loadInTurn(
  context: BenchContext,
  [ours, baseline]: Ports,
  load: Omit<Load, 'port'>,
): Promise<LoadRounds> {
  return await roundsOf(context, { ...load, port: ours }, { ...load, port: baseline });
}

/** The two loads take turns. */
export async function roundsOf(context: BenchContext, ours: Load, baseline: Load): Promise<LoadRounds> {
  const results: { ours: LoadResult[]; baseline: LoadResult[] } = { ours: [], baseline: [] };
  for (const load of [ours, baseline]) await runLoad(context, { ...load, calls: warmUpCalls });
  for (let round = 0; round < roundCount(context); round += 1) {
    results.ours.push(await runLoad(context, ours));
    results.baseline.push(await runLoad(context, baseline));
  }
  return results;
}

export function samplesOf(
  { ours, baseline }: LoadRounds,
  value: (result: LoadResult) => number,
): Required<Samples> {
  return { ours: ours.map(value), baseline: baseline.map(value) };
}

/** One call at a time. In a round, twenty calls are slower than the 99th percentile. */
export const single = { connections: 1, calls: 2000, warmUp: 100 };

/** Returns the samples of the median time of one call at a time. */
export async function p50InTurn(
  context: BenchContext,
  ports: Ports,
  load: Pick<Load, 'path' | 'bodies'>,
): Promise<Samples> {
  return samplesOf(await loadInTurn(context, ports, { ...single, ...load }), ({ p50 }) => p50);
}

/** Starts an empty server whose answers are as long as the answer of this server to the body. */
export async function emptyServerLike(
  context: BenchContext,
  { port }: BenchServer,
  { path = '/validate', bodies: [body = ''] }: Pick<Load, 'path' | 'bodies'>,
  expect: (response: Response) => boolean,
): Promise<BenchServer> {
  const client = new HttpsClient(port);
  const answer = await client.post(path, body).finally(() => client.close());
  if (!expect(responseOf(answer.body))) throw new Error(`this answer was not expected: ${answer.body}`);
  return await startEmptyServer(context, Buffer.byteLength(answer.body));
}
