// Rows of allowed reviews: `reeve serve` against an empty node:https server, one at a time and over 32 connections.
import { join } from 'node:path';
import { namespaceObject, reviewJson } from '../../support/reviews.ts';
import { folderOf } from '../../support/serve-process.ts';
import { policies } from '../bench-policies.ts';
import { emptyServerLike, loadInTurn, p50InTurn, samplesOf, single } from '../review-load.ts';
import type { BenchContext, MeasuredRows, Measurement } from '../row.ts';
import { startReeveServe } from '../server-process.ts';
import { largeSecret } from './secrets.ts';

const labels = { team: 't0', env: 'dev', 'pod-security.kubernetes.io/enforce': 'baseline' };
const annotations = { contact: 'team@example.com' };
const allowed = reviewJson(namespaceObject('shop', { labels, annotations }));
const bodies = [allowed];
/** The warm-up is long, because the collector of garbage needs more than the compiler until it is as fast as it gets. */
const wide = { connections: 32, calls: 12_000, slices: 8, warmUp: 20_000, bodies };
/** Enough that eighty calls of a round are slower than its 99th percentile. */
const many = { ...single, calls: 8000, slices: 40, bodies };

async function measureAllowed(context: BenchContext): Promise<MeasuredRows> {
  await using folder = await folderOf({ 'policies/policies.yaml': policies(1) });
  await using reeve = await startReeveServe(context, ['--policies', join(folder.path, 'policies')]);
  await using empty = await emptyServerLike(context, reeve, bodies, (response) => response.allowed);
  // First, because it warms up more.
  const all = await loadInTurn(context, [reeve, empty], wide);
  const one = await loadInTurn(context, [reeve, empty], many);
  return {
    'allow-p50': samplesOf(one, ({ p50 }) => p50),
    'allow-p99': samplesOf(one, ({ p99 }) => p99),
    throughput: samplesOf(all, ({ perSecond }) => perSecond),
  };
}

async function measurePolicies(context: BenchContext): Promise<MeasuredRows> {
  await using folder = await folderOf({
    '1/policies.yaml': policies(1),
    '200/policies.yaml': policies(200),
    '1000/policies.yaml': policies(1000),
  });
  const start = (count: string) => startReeveServe(context, ['--policies', join(folder.path, count)]);
  await using one = await start('1');
  await using hundreds = await start('200');
  await using thousand = await start('1000');
  return {
    'policies-200': await p50InTurn(context, [hundreds, one], bodies),
    'policies-1000': await p50InTurn(context, [thousand, one], bodies),
  };
}

/** Over 32 connections, so that each large Secret makes many small reviews wait, and the 99th percentile shows them. */
async function measureLargeSecrets(context: BenchContext): Promise<MeasuredRows> {
  await using folder = await folderOf({ 'policies/policies.yaml': policies(1) });
  await using reeve = await startReeveServe(context, ['--policies', join(folder.path, 'policies')]);
  const disturbed = { ...wide, calls: 24_000, sideBody: largeSecret() };
  return {
    'large-secrets-p99': samplesOf(await loadInTurn(context, [reeve, reeve], disturbed), ({ p99 }) => p99),
  };
}

export const reviewMeasurements: readonly Measurement[] = [
  { rows: ['allow-p50', 'allow-p99', 'throughput'], isQuick: true, measure: measureAllowed },
  { rows: ['policies-200', 'policies-1000'], isQuick: true, measure: measurePolicies },
  { rows: ['large-secrets-p99'], isQuick: true, measure: measureLargeSecrets },
];
