// Rows of the webhook on a real API server: creating a namespace through both hooks of Reeve, against other kinds of hooks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issueCertificates } from '../../../src/certs/issue/issue.ts';
import type { BenchPlane } from '../plane/bench-plane.ts';
import { startPlanes } from '../plane/bench-planes.ts';
import {
  createNamespace,
  emptyHooks,
  inTreePolicy,
  namespaceOf,
  rulesPolicy,
} from '../plane/plane-objects.ts';
import type { BenchContext, Measurement, Samples } from '../row.ts';
import { median } from '../statistics.ts';

const createsPerRound = 150;

/** What judges a create. The label `hook` of a namespace selects the hooks of the plane without Reeve. */
const kinds = ['reeve', 'none', 'empty', 'in-tree'] as const;
type Kind = (typeof kinds)[number];

async function measureCreates(context: BenchContext): Promise<Readonly<Record<string, Samples>>> {
  // Without a reconciler: the processor is for the webhook alone.
  await using planes = await startPlanes(context);
  const { bare, plane } = planes;
  await using _ = await startEmptyHooks(context, bare);
  for (const [path, body] of inTreePolicy) await bare.create(path, body);
  await plane.create('/apis/reeve.dev/v1alpha1/namespacepolicies', rulesPolicy);
  await Promise.all([isJudged(plane, 'reeve'), isJudged(bare, 'in-tree')]);
  const medians: Record<Kind, number[]> = { reeve: [], none: [], empty: [], 'in-tree': [] };
  // The first round warms up.
  for (let round = 0; round <= context.rounds; round += 1) {
    const times: Record<Kind, number[]> = { reeve: [], none: [], empty: [], 'in-tree': [] };
    for (let index = 0; index < createsPerRound; index += 1) {
      for (const kind of kinds)
        times[kind].push(await create(kind === 'reeve' ? plane : bare, kind, `${round}-${index}`));
    }
    if (round > 0) for (const kind of kinds) medians[kind].push(median(times[kind]));
  }
  for (const kind of kinds) context.print(`  create, hooks: ${kind}: ${median(medians[kind]).toFixed(2)} ms`);
  return {
    'create-namespace': { ours: medians.reeve, baseline: medians.none },
    'create-namespace-empty': { ours: medians.reeve, baseline: medians.empty },
  };
}

async function create({ calls }: BenchPlane, kind: Kind, name: string): Promise<number> {
  const labels = { team: 'payments', env: 'dev', hook: kind };
  const call = createNamespace(namespaceOf(`hook-${kind}-${name}`, labels));
  const began = performance.now();
  await calls.mustSend(call);
  return performance.now() - began;
}

/** Waits until a namespace that breaks the rules is refused. */
async function isJudged({ calls }: BenchPlane, kind: Kind): Promise<void> {
  const namespace = namespaceOf('hook-bad', { team: 'Payments', env: 'dev', hook: kind });
  const call = { ...createNamespace(namespace), path: '/api/v1/namespaces?dryRun=All' };
  while ((await calls.send(call)).status < 400);
}

/** Starts a server that allows everything, and waits until the API server has asked it. */
async function startEmptyHooks(context: BenchContext, plane: BenchPlane): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(context.folder, 'empty-webhook-'));
  const issued = await issueCertificates({
    namespace: 'reeve-system',
    now: new Date(),
    caLifetimeDays: 2,
    leafLifetimeDays: 1,
  });
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await writeFile(cert, issued.serving.certPem);
  await writeFile(key, issued.serving.keyPem);
  const script = join(import.meta.dirname, '../plane/empty-webhook.ts');
  const child = spawn(process.execPath, [script, cert, key], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  for (const [path, body] of emptyHooks(Number(String(line)), issued.ca.certPem))
    await plane.create(path, body);
  return {
    [Symbol.asyncDispose]: async () => {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}

export const createMeasurements: readonly Measurement[] = [
  { rows: ['create-namespace', 'create-namespace-empty'], isQuick: true, measure: measureCreates },
];
