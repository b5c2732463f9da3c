// Requests a second and idle memory of Reeve, an empty server, and the webhooks of peers without any constraint.
import { join } from 'node:path';
import { namespaceObject, reviewJson } from '../../support/reviews.ts';
import { folderOf } from '../../support/serve-process.ts';
import { policies } from '../bench-policies.ts';
import { runLoad } from '../load.ts';
import type { BenchContext } from '../row.ts';
import { startEmptyServer, startReeveServe } from '../server-process.ts';
import { median, medianRatio } from '../statistics.ts';
import { gatekeeperPath, startGatekeeper } from './gatekeeper.ts';
import { kyvernoPath, startKyverno } from './kyverno.ts';
import { idle, residentMiB } from './peer-process.ts';
import { PeerPlane, startReeveRoles } from './peer-plane.ts';
import { peerPrograms } from './peer-programs.ts';
import type { PeerRow } from './peers-table.ts';

const labels = { team: 't0', env: 'dev', 'pod-security.kubernetes.io/enforce': 'baseline' };
const annotations = { contact: 'team@example.com' };
const review = reviewJson(namespaceObject('shop', { labels, annotations }));

interface Server {
  readonly name: 'baseline' | 'reeve' | 'gatekeeper' | 'kyverno';
  readonly port: number;
  readonly path?: string;
  readonly perSecond: number[];
}

export async function measureServers(context: BenchContext): Promise<readonly PeerRow[]> {
  await using stack = new AsyncDisposableStack();
  const plane = async (): Promise<PeerPlane> => stack.use(await PeerPlane.start(context));
  const gatekeeper = stack.use(
    await startGatekeeper(await plane(), await peerPrograms('gatekeeper', context.print)),
  );
  const kyverno = stack.use(await startKyverno(await plane(), await peerPrograms('kyverno', context.print)));
  const roles = await startReeveRoles(context, await plane());
  const empty = stack.use(await startEmptyServer(context, answerBytes));
  await idle();
  const memory: readonly PeerRow[] = [
    {
      title: 'idle memory of the webhook',
      unit: 'MiB',
      baseline: residentMiB(empty.pid),
      reeve: residentMiB(roles.webhook.pid),
      gatekeeper: residentMiB(gatekeeper.pid),
      kyverno: residentMiB(kyverno.admission.pid),
    },
    {
      title: 'idle memory of the process that generates objects',
      unit: 'MiB',
      reeve: residentMiB(roles.reconciler.pid),
      kyverno: residentMiB(kyverno.background.pid),
    },
  ];
  await roles[Symbol.asyncDispose]();
  const folder = stack.use(await folderOf({ 'policies/policies.yaml': policies(1) }));
  const reeve = stack.use(await startReeveServe(context, ['--policies', join(folder.path, 'policies')]));
  const servers: readonly Server[] = [
    { name: 'baseline', port: empty.port, perSecond: [] },
    { name: 'reeve', port: reeve.port, perSecond: [] },
    { name: 'gatekeeper', port: gatekeeper.port, path: gatekeeperPath, perSecond: [] },
    { name: 'kyverno', port: kyverno.port, path: kyvernoPath, perSecond: [] },
  ];
  return [...(await throughput(context, servers)), ...memory];
}

/** The length of an answer of Reeve that allows a review. */
const answerBytes = 150;

/** All servers keep running, and get load in turn. The first round warms up. */
async function throughput(context: BenchContext, servers: readonly Server[]): Promise<readonly PeerRow[]> {
  for (let round = 0; round <= context.rounds; round += 1) {
    for (const { port, path, perSecond, name } of servers) {
      const load = { port, ...(path === undefined ? {} : { path }), bodies: [review], connections: 32 };
      const result = await runLoad(context, { ...load, calls: 20_000, warmUp: 3000 });
      context.print(`round ${round}: ${name} ${result.perSecond.toFixed(0)} requests/s`);
      if (round > 0) perSecond.push(result.perSecond);
    }
  }
  const ours = servers.find(({ name }) => name === 'reeve')?.perSecond ?? [];
  return [
    {
      title: 'reviews a second over 32 connections',
      unit: 'requests/s',
      ...Object.fromEntries(servers.map(({ name, perSecond }) => [name, median(perSecond)])),
    },
    {
      title: 'the same of Reeve, against each of the others in the same round',
      unit: 'x',
      ...Object.fromEntries(
        servers
          .filter(({ name }) => name !== 'reeve')
          .map(({ name, perSecond }) => [name, medianRatio(ours, perSecond)]),
      ),
    },
  ];
}
