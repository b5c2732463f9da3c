// Rows of the webhook on a real API server: creating a namespace through both hooks of Reeve, against other kinds of hooks.
import type { BenchPlane } from '../plane/bench-plane.ts';
import {
  createNamespace,
  emptyHooks,
  inTreePolicy,
  namespaceOf,
  type NamedObject,
  rulesPolicy,
} from '../plane/plane-objects.ts';
import type { BenchContext, MeasuredRows, Measurement } from '../row.ts';
import { startScript } from '../server-process.ts';
import { median } from '../statistics.ts';

const createsPerRound = 100;

/** What judges a create. The label `hook` of a namespace selects the hooks of the plane without Reeve. */
const kinds = ['reeve', 'none', 'empty', 'in-tree'] as const;
type Kind = (typeof kinds)[number];

async function measureCreates(context: BenchContext): Promise<MeasuredRows> {
  const { bare, plane, reeve } = await context.planes();
  // The processor is for the webhook alone.
  await reeve.stopReconciler();
  await using stack = new AsyncDisposableStack();
  const { port, authority } = stack.use(await startScript(context, 'plane/empty-webhook.ts'));
  for (const [path, body] of [...emptyHooks(port, authority), ...inTreePolicy])
    stack.use(await created(bare, path, body));
  stack.use(await created(plane, '/apis/reeve.dev/v1alpha1/namespacepolicies', rulesPolicy));
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

/** Other measurements share the planes, so each object is deleted in the end. */
async function created({ calls }: BenchPlane, path: string, body: NamedObject): Promise<AsyncDisposable> {
  await calls.mustSend({ method: 'POST', path, body });
  return {
    [Symbol.asyncDispose]: async () => {
      await calls.mustSend({ method: 'DELETE', path: `${path}/${body.metadata.name}` });
    },
  };
}

/** Waits until a namespace that breaks the rules is refused. */
async function isJudged({ calls }: BenchPlane, kind: Kind): Promise<void> {
  const namespace = namespaceOf('hook-bad', { team: 'Payments', env: 'dev', hook: kind });
  const call = { ...createNamespace(namespace), path: '/api/v1/namespaces?dryRun=All' };
  while ((await calls.send(call)).status < 400);
}

export const creates: Measurement = {
  rows: ['create-namespace', 'create-namespace-empty'],
  isQuick: true,
  measure: measureCreates,
};
