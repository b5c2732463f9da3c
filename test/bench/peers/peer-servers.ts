// Requests a second and idle memory of Reeve, an empty server, and the webhooks of peers without any constraint.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../cluster/control-plane.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { namespaceObject, reviewJson } from '../../support/reviews.ts';
import { folderOf } from '../../support/serve-process.ts';
import { policies } from '../bench-policies.ts';
import { runLoad, type LoadTarget } from '../load.ts';
import type { BenchContext } from '../row.ts';
import { startEmptyServer, startReeveServe } from '../server-process.ts';
import { median, medianRatio } from '../statistics.ts';
import { gatekeeperPath, startGatekeeper } from './gatekeeper.ts';
import { kyvernoPath, startKyverno } from './kyverno.ts';
import { residentMiB } from '../process-use.ts';
import { PeerPlane } from './peer-plane.ts';
import { podProgram, startPod } from '../pod-process.ts';
import { peerPrograms } from './peer-programs.ts';
import { againstOthers, type PeerRow } from './peers-table.ts';

const labels = { team: 't0', env: 'dev', 'pod-security.kubernetes.io/enforce': 'baseline' };
const annotations = { contact: 'team@example.com' };
const review = reviewJson(namespaceObject('shop', { labels, annotations }));

interface Server extends LoadTarget {
  readonly name: 'baseline' | 'reeve' | 'gatekeeper' | 'kyverno';
}

export async function measureServers(context: BenchContext): Promise<readonly PeerRow[]> {
  await using stack = new AsyncDisposableStack();
  const plane = async (): Promise<PeerPlane> => stack.use(await PeerPlane.start(context));
  const gatekeeper = stack.use(
    await startGatekeeper(await plane(), await peerPrograms('gatekeeper', context.print)),
  );
  const kyverno = stack.use(await startKyverno(await plane(), await peerPrograms('kyverno', context.print)));
  const reeveCluster = (await plane()).cluster;
  await installReeve(reeveCluster);
  const empty = stack.use(await startEmptyServer(context, answerBytes));
  const memory = await memoryRows(context, reeveCluster, { empty, gatekeeper, kyverno });
  const folder = stack.use(await folderOf({ 'policies/policies.yaml': policies(1) }));
  const reeve = stack.use(await startReeveServe(context, ['--policies', join(folder.path, 'policies')]));
  const servers: readonly Server[] = [
    { name: 'baseline', port: empty.port },
    { name: 'reeve', port: reeve.port },
    { name: 'gatekeeper', port: gatekeeper.port, path: gatekeeperPath },
    { name: 'kyverno', port: kyverno.port, path: kyvernoPath },
  ];
  return [...(await throughput(context, servers)), ...memory];
}

interface OtherPrograms {
  readonly empty: Program;
  readonly gatekeeper: Program;
  readonly kyverno: { readonly admission: Program; readonly background: Program };
}

interface Program {
  readonly pid: number;
}

/** Reeve runs as in Pods, like in the first table: a kubeconfig would load a library that Pods do not load. */
async function memoryRows(
  context: BenchContext,
  cluster: ControlPlane,
  { empty, gatekeeper, kyverno }: OtherPrograms,
): Promise<readonly PeerRow[]> {
  const start = async (role: 'webhook' | 'reconciler') =>
    await startPod(context, cluster, role, await podProgram(context, cluster, role));
  await using webhook = await start('webhook');
  await using reconciler = await start('reconciler');
  await sleep(idleMs);
  return [
    {
      title: 'idle memory of the webhook',
      unit: 'MiB',
      baseline: residentMiB(empty.pid),
      reeve: residentMiB(webhook.pid),
      gatekeeper: residentMiB(gatekeeper.pid),
      kyverno: residentMiB(kyverno.admission.pid),
    },
    {
      title: 'idle memory of the process that generates objects',
      unit: 'MiB',
      reeve: residentMiB(reconciler.pid),
      kyverno: residentMiB(kyverno.background.pid),
    },
  ];
}

/** Garbage collectors and caches come to rest. */
const idleMs = 15_000;

/** The length of an answer of Reeve that allows a review. */
const answerBytes = 150;

/** All servers keep running, and take turns in each round. */
async function throughput(context: BenchContext, servers: readonly Server[]): Promise<readonly PeerRow[]> {
  const load = { bodies: [review], connections: 32, calls: 20_000, slices: 8, warmUp: 5000 };
  const rounds = await runLoad(context, { ...load, servers, rounds: context.rounds });
  const found = new Map(
    servers.map(({ name }, index) => [
      name,
      rounds.map((results) => results[index]?.perSecond ?? Number.NaN),
    ]),
  );
  const ours = found.get('reeve') ?? [];
  const others = [...found].filter(([name]) => name !== 'reeve');
  return [
    {
      title: 'reviews a second over 32 connections',
      unit: 'requests/s',
      ...Object.fromEntries([...found].map(([name, perSecond]) => [name, median(perSecond)])),
    },
    {
      title: againstOthers,
      unit: 'x',
      ...Object.fromEntries(others.map(([name, perSecond]) => [name, medianRatio(ours, perSecond)])),
    },
  ];
}
