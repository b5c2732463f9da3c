// Creates of namespaces through the webhooks of Reeve and of peers, and RoleBindings in new namespaces, on control planes.
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../support/in-parallel.ts';
import type { BenchContext } from '../row.ts';
import { median } from '../statistics.ts';
import { startGatekeeper } from './gatekeeper.ts';
import { startKyverno } from './kyverno.ts';
import { PeerPlane, startReeveRoles } from './peer-plane.ts';
import {
  bindingName,
  boundPrefix,
  hookedPrefix,
  kyvernoBindings,
  kyvernoPolicies,
  kyvernoRules,
  reeveBindings,
  reevePolicies,
  reeveRules,
} from './peer-policies.ts';
import { peerPrograms } from './peer-programs.ts';
import type { PeerRow } from './peers-table.ts';

const createsPerRound = 60;
const newNamespaces = 200;
/** As many at once as Reeve handles by default. */
const patienceMs = 90_000;
/** Kyverno registers the webhooks of a policy some time after the policy is ready. */
const settleMs = 10_000;

type Name = 'baseline' | 'reeve' | 'gatekeeper' | 'kyverno';

/** Each program has a control plane of its own; they take turns. */
export async function measureCreates(context: BenchContext): Promise<readonly PeerRow[]> {
  await using stack = new AsyncDisposableStack();
  const planes: { readonly name: Name; readonly plane: PeerPlane; readonly times: number[] }[] = [];
  for (const name of ['baseline', 'reeve', 'gatekeeper', 'kyverno'] as const)
    planes.push({ name, plane: await planeWith(context, stack, name), times: [] });
  for (const { name, plane } of planes) {
    if (name === 'reeve') await plane.create(reevePolicies, reeveRules);
    if (name === 'kyverno') await plane.create(kyvernoPolicies, kyvernoRules);
    if (name === 'reeve' || name === 'kyverno') await refusesUnlabeled(plane);
  }
  for (let round = 0; round <= context.rounds; round += 1) {
    for (const { plane, times } of planes) {
      const p50 = await medianCreate(plane, round);
      if (round > 0) times.push(p50);
    }
  }
  const figures = Object.fromEntries(planes.map(({ name, times }) => [name, median(times)]));
  return [
    { title: 'p50 of creating a namespace through its webhooks, one at a time', unit: 'ms', ...figures },
  ];
}

/** One after the other, so that neither slows the other down. */
export async function measureBindings(context: BenchContext): Promise<readonly PeerRow[]> {
  const [reeve, kyverno] = [
    await boundBy(context, 'reeve', reevePolicies, reeveBindings),
    await boundBy(context, 'kyverno', kyvernoPolicies, kyvernoBindings),
  ];
  return [
    {
      title: `${newNamespaces} new namespaces: time until each has its RoleBinding`,
      unit: 's',
      reeve: reeve.seconds,
      kyverno: kyverno.seconds,
    },
    {
      title: `${newNamespaces} new namespaces: RoleBindings within ${patienceMs / 1000} s`,
      unit: 'objects',
      reeve: reeve.count,
      kyverno: kyverno.count,
    },
  ];
}

async function planeWith(context: BenchContext, stack: AsyncDisposableStack, name: Name): Promise<PeerPlane> {
  const plane = stack.use(await PeerPlane.start(context));
  if (name === 'reeve') stack.use(await startReeveRoles(context, plane));
  if (name === 'gatekeeper')
    stack.use(await startGatekeeper(plane, await peerPrograms('gatekeeper', context.print)));
  if (name === 'kyverno') stack.use(await startKyverno(plane, await peerPrograms('kyverno', context.print)));
  return plane;
}

/** Waits until the policy is enforced. */
async function refusesUnlabeled({ calls }: PeerPlane): Promise<void> {
  const end = performance.now() + 60_000;
  const body = { metadata: { name: `${hookedPrefix}unlabeled` } };
  for (;;) {
    const { status, message } = await calls.send({
      method: 'POST',
      path: '/api/v1/namespaces?dryRun=All',
      body,
    });
    if (status >= 400) return;
    if (performance.now() > end) throw new Error(`a policy is not enforced: ${status} ${message}`);
    await sleep(200);
  }
}

async function medianCreate(plane: PeerPlane, round: number): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < createsPerRound; index += 1) {
    const metadata = { name: `${hookedPrefix}${round}-${index}`, labels: { team: 't0', env: 'dev' } };
    const began = performance.now();
    await plane.create('/api/v1/namespaces', { metadata });
    times.push(performance.now() - began);
  }
  return median(times);
}

interface Bound {
  /** Missing when not all were there in time. */
  readonly seconds?: number;
  readonly count: number;
}

async function boundBy(context: BenchContext, name: Name, path: string, policy: object): Promise<Bound> {
  await using stack = new AsyncDisposableStack();
  const plane = await planeWith(context, stack, name);
  await plane.create(path, policy);
  await sleep(settleMs);
  const names = Array.from({ length: newNamespaces }, (_, index) => `${boundPrefix}${index}`);
  const began = performance.now();
  await inParallel(names, (each) => plane.create('/api/v1/namespaces', { metadata: { name: each } }));
  for (;;) {
    const count = await countBindings(plane);
    const elapsed = performance.now() - began;
    if (count >= newNamespaces) return { count, seconds: elapsed / 1000 };
    if (elapsed > patienceMs) return { count };
    await sleep(50);
  }
}

async function countBindings({ cluster }: PeerPlane): Promise<number> {
  const path = '/apis/rbac.authorization.k8s.io/v1/rolebindings';
  const { items } = (await cluster.admin.mustSend('GET', path)) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  return items.filter(({ metadata }) => metadata.name === bindingName).length;
}
