// Loads of reviews in which Reeve and its baseline take turns, and an empty server with answers of the same length.
import { HttpsClient } from '../support/https-client.ts';
import { responseOf, type Response } from '../support/reviews.ts';
import { runLoad, type Load, type LoadResult, type LoadTarget } from './load.ts';
import type { BenchContext, Samples } from './row.ts';
import { startEmptyServer, type BenchServer } from './server-process.ts';

/** Node has compiled the code that matters after that many calls. */
const warmUp = 4000;

/**
 * Returns the results of all rounds. Both servers keep running, and take turns of about 0.05 s: the speed of a shared machine
 * changes within seconds, so longer turns give noise.
 */
export async function loadInTurn(
  context: BenchContext,
  servers: readonly [ours: LoadTarget, baseline: LoadTarget],
  load: Omit<Load, 'servers'>,
): Promise<readonly (readonly LoadResult[])[]> {
  return await runLoad(context, { servers, warmUp, rounds: context.rounds, ...load });
}

export function samplesOf(
  rounds: readonly (readonly LoadResult[])[],
  value: (result: LoadResult) => number,
): Required<Samples> {
  const of = (server: number): readonly number[] =>
    rounds.map((results) => results.slice(server, server + 1).map(value)[0] ?? Number.NaN);
  return { ours: of(0), baseline: of(1) };
}

/** One call at a time. */
export const single = { calls: 3000, slices: 15 };

/** Returns the samples of the median time of one call at a time. */
export async function p50InTurn(
  context: BenchContext,
  servers: readonly [ours: LoadTarget, baseline: LoadTarget],
  bodies: readonly string[],
): Promise<Samples> {
  return samplesOf(await loadInTurn(context, servers, { ...single, bodies }), ({ p50 }) => p50);
}

/** Starts an empty server whose answers are as long as the answer of this server to the first body. */
export async function emptyServerLike(
  context: BenchContext,
  { port, path = '/validate' }: LoadTarget,
  [body = '']: readonly string[],
  expect: (response: Response) => boolean,
): Promise<BenchServer> {
  const client = new HttpsClient(port);
  const answer = await client.post(path, body).finally(() => client.close());
  if (!expect(responseOf(answer.body))) throw new Error(`this answer was not expected: ${answer.body}`);
  return await startEmptyServer(context, Buffer.byteLength(answer.body));
}
