// Rows of allowed reviews: `reeve serve` against an empty node:https server, one at a time and over 32 connections.
import { join } from 'node:path';
import { namespaceObject, reviewJson } from '../../support/reviews.ts';
import { folderOf } from '../../support/serve-process.ts';
import { policies } from '../bench-policies.ts';
import { emptyServerLike, loadInTurn, p50InTurn, roundsOf, samplesOf, single } from '../review-load.ts';
import type { BenchContext, Measurement, Samples } from '../row.ts';
import { startReeveServe } from '../server-process.ts';
import { largeSecret } from './secrets.ts';

const labels = { team: 't0', env: 'dev', 'pod-security.kubernetes.io/enforce': 'baseline' };
const annotations = { contact: 'team@example.com' };
const allowed = reviewJson(namespaceObject('shop', { labels, annotations }));
const wide = { connections: 32, calls: 6000, warmUp: 1000, bodies: [allowed] };

type MeasuredRows = Promise<Readonly<Record<string, Samples>>>;

async function measureAllowed(context: BenchContext): MeasuredRows {
  await using folder = await folderOf({ 'policies/policies.yaml': policies(1) });
  await using reeve = await startReeveServe(context, ['--policies', join(folder.path, 'policies')]);
  const load = { bodies: [allowed] };
  await using empty = await emptyServerLike(context, reeve, load, (response) => response.allowed);
  const ports = [reeve.port, empty.port] as const;
  const one = await loadInTurn(context, ports, { ...single, ...load });
  const many = await loadInTurn(context, ports, wide);
  return {
    'allow-p50': samplesOf(one, ({ p50 }) => p50),
    'allow-p99': samplesOf(one, ({ p99 }) => p99),
    throughput: samplesOf(many, ({ perSecond }) => perSecond),
  };
}

async function measurePolicies(context: BenchContext): MeasuredRows {
  await using folder = await folderOf({
    '1/policies.yaml': policies(1),
    '200/policies.yaml': policies(200),
    '1000/policies.yaml': policies(1000),
  });
  const start = (count: string) => startReeveServe(context, ['--policies', join(folder.path, count)]);
  await using one = await start('1');
  await using some = await start('200');
  await using many = await start('1000');
  const load = { bodies: [allowed] };
  return {
    'policies-200': await p50InTurn(context, [some.port, one.port], load),
    'policies-1000': await p50InTurn(context, [many.port, one.port], load),
  };
}

/** Over 32 connections, so that each large Secret makes many small reviews wait, and the 99th percentile shows them. */
async function measureLargeSecrets(context: BenchContext): MeasuredRows {
  await using folder = await folderOf({ 'policies/policies.yaml': policies(1) });
  await using reeve = await startReeveServe(context, ['--policies', join(folder.path, 'policies')]);
  const undisturbed = { ...wide, port: reeve.port };
  const disturbed = { ...undisturbed, sideBody: largeSecret() };
  return {
    'large-secrets-p99': samplesOf(await roundsOf(context, disturbed, undisturbed), ({ p99 }) => p99),
  };
}

export const reviewMeasurements: readonly Measurement[] = [
  { rows: ['allow-p50', 'allow-p99', 'throughput'], isQuick: true, measure: measureAllowed },
  { rows: ['policies-200', 'policies-1000'], isQuick: true, measure: measurePolicies },
  { rows: ['large-secrets-p99'], isQuick: true, measure: measureLargeSecrets },
];
