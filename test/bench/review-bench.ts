// Measures what a review costs over kept-alive TLS, compared with an empty node:https server in the same run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { decide } from '../../src/policy/decide/decide.ts';
import { settle } from '../../src/policy/decide/settle.ts';
import { loadCluster } from '../../src/state/file-cluster.ts';
import { aNamespace, aReview, circumstances } from '../support/engine.ts';
import { HttpsClient } from '../support/https-client.ts';
import { namespaceObject, responseOf, reviewJson } from '../support/reviews.ts';
import { folderOf, ReeveProcess } from '../support/serve-process.ts';
import { policies } from './bench-policies.ts';
import { isKept, verdict, type Bound } from './bound.ts';
import { median, medianRatio, quantile, spread } from './statistics.ts';

const rounds = 15;
const callsPerRound = 400;
const warmUpCalls = 1500;

const decisionsPerRound = 2000;
const microsecondsPerMillisecond = 1000;

const labels = { team: 't0', env: 'dev', 'pod-security.kubernetes.io/enforce': 'baseline' };
const annotations = { contact: 'team@example.com' };
const review = reviewJson(namespaceObject('shop', { labels, annotations }));

interface Target {
  readonly name: string;
  readonly client: HttpsClient;
  /** One value for each round, in milliseconds. */
  readonly p50: number[];
  readonly p99: number[];
}

async function measure({ client, p50, p99 }: Target): Promise<void> {
  const times: number[] = [];
  for (let call = 0; call < callsPerRound; call++) {
    const began = performance.now();
    await client.post('/validate?timeout=10s', review);
    times.push(performance.now() - began);
  }
  p50.push(median(times));
  p99.push(quantile(times, 0.99));
}

async function warmUp({ client, name }: Target): Promise<void> {
  for (let call = 0; call < warmUpCalls; call++) await client.post('/validate', review);
  const { body } = await client.post('/validate', review);
  if (name !== 'empty' && !responseOf(body).allowed) throw new Error(`${name} refuses the review: ${body}`);
}

function targetOf(name: string, port: number): Target {
  return { name, client: new HttpsClient(port), p50: [], p99: [] };
}

function report(targets: readonly Target[]): string {
  const ms = (value: number): string => value.toFixed(3).padStart(8);
  const rows = targets.map(({ name, p50, p99 }) => {
    return `${name.padEnd(14)}${ms(median(p50))}${ms(median(p99))}${`${(spread(p50) * 100).toFixed(0)} %`.padStart(8)}`;
  });
  return [`${'milliseconds'.padEnd(14)}     p50     p99   noise`, ...rows].join('\n');
}

/** Returns the microseconds that the engine alone needs for the review, without HTTP and JSON. */
async function pureDecision(policyFolder: string): Promise<number> {
  const { snapshot } = await loadCluster({
    policies: policyFolder,
    clusterState: undefined,
    namespace: 'reeve-system',
    sharedNamespace: ['reeve-shared'],
    excludeNamespace: [],
  });
  const pureReview = aReview({ object: aNamespace({ name: 'shop', labels, annotations }) });
  const decideOnce = () => settle(decide(pureReview, snapshot, circumstances), new Map(), pureReview);
  if (!decideOnce().allowed || decideOnce().policies.length !== 1) throw new Error('the engine refuses it');
  const times = Array.from({ length: rounds + 1 }, () => {
    const began = performance.now();
    for (let call = 0; call < decisionsPerRound; call++) decideOnce();
    return ((performance.now() - began) * microsecondsPerMillisecond) / decisionsPerRound;
  });
  // The first round warms up.
  return median(times.slice(1));
}

/** Returns true when Reeve was fast enough. */
async function run(empty: Target, one: Target, many: Target): Promise<boolean> {
  const targets = [empty, one, many];
  for (const target of targets) await warmUp(target);
  // All targets take turns, so that other load on the machine affects all of them alike.
  for (let round = 0; round < rounds; round++) {
    for (const target of targets) await measure(target);
  }
  for (const { client } of targets) client.close();
  const bounds: readonly Bound[] = [
    {
      name: 'p50 of /validate against an empty node:https server',
      ratio: medianRatio(one.p50, empty.p50),
      limit: 2,
    },
    { name: 'p50 with 200 policies against 1 policy', ratio: medianRatio(many.p50, one.p50), limit: 1.5 },
  ];
  process.stdout.write(
    `${report(targets)}\n\n` +
      `${bounds.map(verdict).join('\n')}\n` +
      `${rounds} rounds of ${callsPerRound} calls each, one at a time; noise: how far the middle half of the rounds is spread\n`,
  );
  return bounds.every(isKept);
}

function serve(folder: string): ReeveProcess {
  return new ReeveProcess([
    'serve',
    '--policies',
    folder,
    '--port',
    '0',
    '--probes-port',
    '0',
    '--drain-grace',
    '0s',
  ]);
}

/** Returns true when Reeve was fast enough. */
export async function benchReviews(): Promise<boolean> {
  await using folder = await folderOf({
    'one/policies.yaml': policies(1),
    'many/policies.yaml': policies(200),
  });
  // Measured before the servers start, so that nothing else runs.
  const microseconds = await pureDecision(join(folder.path, 'one'));
  const baseline = spawn(process.execPath, ['test/bench/empty-server.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const servers = [serve(join(folder.path, 'one')), serve(join(folder.path, 'many'))];
  try {
    const [port] = (await once(baseline.stdout, 'data')) as [Buffer];
    const [one, many] = await Promise.all(servers.map((server) => server.ready()));
    const isFastEnough = await run(
      targetOf('empty', Number(String(port))),
      targetOf('1 policy', one?.port ?? 0),
      targetOf('200 policies', many?.port ?? 0),
    );
    process.stdout.write(`one decision of the engine alone: ${microseconds.toFixed(1)} microseconds\n`);
    return isFastEnough;
  } finally {
    baseline.kill();
    for (const server of servers) await server[Symbol.asyncDispose]();
  }
}
