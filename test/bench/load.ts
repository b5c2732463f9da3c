// Runs the load generator of test/cluster/loadgen on a core of its own, and returns its figures.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../support/run-program.ts';
import type { BenchContext } from './row.ts';
import { loadCore, onCore } from './cores.ts';

export interface LoadTarget {
  readonly port: number;
  /** Default: the path of the validating webhook. */
  readonly path?: string;
}

export interface Load {
  /** They take turns, several times in each round, so that other load on the machine affects all of them alike. */
  readonly servers: readonly LoadTarget[];
  /** They take turns. */
  readonly bodies: readonly string[];
  /** Default: 1. */
  readonly connections?: number;
  /** The number of measured calls in each round, to each server. */
  readonly calls: number;
  /** How often the servers take turns in a round. Default: 1. */
  readonly slices?: number;
  /** Default: 1. */
  readonly rounds?: number;
  /** Calls to each server before the first round. Default: none. */
  readonly warmUp?: number;
  /** A body that arrives every 100 ms beside the others while it is the turn of the first server. */
  readonly sideBody?: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly errors: number;
  readonly firstError?: string;
  readonly statuses: Readonly<Record<string, number>>;
  readonly answerBytes: number;
  /** Near 1, the load generator limits the figures. */
  readonly busy: number;
  readonly side?: LoadResult;
}

/**
 * Returns one result for each server, of each round. Rejects when a call fails or gets another status than 200: such answers
 * say nothing about speed.
 */
export async function runLoad(
  context: BenchContext,
  load: Load,
): Promise<readonly (readonly LoadResult[])[]> {
  const { servers, connections = 1, calls, slices = 1, rounds = 1, warmUp = 0 } = load;
  const folder = await mkdtemp(join(context.folder, 'load-'));
  const files = await Promise.all(load.bodies.map((body, index) => file(folder, `body-${index}`, body)));
  const side = load.sideBody === undefined ? [] : ['-side-body', await file(folder, 'side', load.sideBody)];
  const [program, ...args] = onCore(loadCore, [
    await context.loadGenerator(),
    ...servers.flatMap(({ port, path = '/validate?timeout=10s' }) => [
      '-url',
      `https://127.0.0.1:${port}${path}`,
    ]),
    ...Object.entries({ connections, calls, slices, rounds, 'warm-up': warmUp }).map(
      ([name, value]) => `-${name}=${value}`,
    ),
    ...files.flatMap((each) => ['-body', each]),
    ...side,
  ]);
  const { code, stdout, stderr } = await runProgram(program, args);
  if (code !== 0) throw new Error(`the load generator failed: ${stderr}`);
  const results = JSON.parse(stdout) as readonly (readonly LoadResult[])[];
  for (const result of results.flat())
    for (const each of result.side === undefined ? [result] : [result, result.side]) expectAnswers(each);
  return results;
}

async function file(folder: string, name: string, body: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, body);
  return path;
}

function expectAnswers({ errors, firstError, statuses, requests }: LoadResult): void {
  if (errors > 0) throw new Error(`${errors} calls failed, the first with: ${firstError}`);
  if ((statuses['200'] ?? 0) !== requests)
    throw new Error(`not all answers were 200: ${JSON.stringify(statuses)}`);
}
