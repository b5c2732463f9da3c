// Installs Reeve on a control plane from manifests/, and runs it from source with its shipped service account.
import { join, resolve } from 'node:path';
import { ownMember } from '../../src/base/json.ts';
import { listOf } from '../../src/check/findings.ts';
import { manifestObjects } from '../support/manifest-files.ts';
import { send } from './admin-client.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { Component } from './component.ts';
import { Guard } from './guard.ts';
import { readState, reeveProcess, writeState } from './layout.ts';
import { freePorts } from './ports.ts';
import { isRunning } from './process-identity.ts';
import { waitUntilReady } from './readiness.ts';
import { installReeve, reeveNamespace } from './reeve-install.ts';

type Say = (text: string) => void;

const root = resolve(import.meta.dirname, '..', '..');
const program = join(root, 'src', 'main.ts');
const serviceAccount = 'reeve-reconciler';

/** Which kinds and adapters the shipped install allows: the accounts have the rights for these. */
const allowed = /^--(?:resource-kind|intent-adapter)=/;

interface ReevePlaces {
  readonly kubeconfig: string;
  readonly port: number;
  readonly probesPort: number;
}

/** Returns the arguments of `reeve run` for a process from source. */
export function reeveArguments(places: ReevePlaces): readonly string[] {
  return [
    'run',
    '--role=all',
    `--kubeconfig=${places.kubeconfig}`,
    '--host=127.0.0.1',
    `--port=${places.port}`,
    // No node serves cluster IPs here, so API servers connect to this port directly.
    `--service-port=${places.port}`,
    `--probes-port=${places.probesPort}`,
    ...shippedArguments().filter((argument) => allowed.test(argument)),
  ];
}

function shippedArguments(): readonly string[] {
  const containers = manifestObjects('install')
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ object: { spec } }) =>
      listOf(ownMember(ownMember(ownMember(spec, 'template'), 'spec'), 'containers')),
    );
  // Both Deployments have the same kinds and adapters.
  return [...new Set(containers.flatMap((each) => listOf(ownMember(each, 'args'))).map(String))];
}

export async function reeveUp(cluster: ClusterAccess, say: Say): Promise<void> {
  const state = await readState(cluster.folder);
  if (state === undefined) throw new Error('the control plane has gone');
  if (state.processes.some((component) => component.name === reeveProcess && isRunning(component))) {
    say('Reeve runs already');
    return;
  }
  const [port = 0, probesPort = 0] = await freePorts(2);
  await installReeve(cluster);
  const places = {
    kubeconfig: await cluster.tokenKubeconfig(reeveNamespace, serviceAccount),
    port,
    probesPort,
  };
  const reeve = new Component(
    { name: reeveProcess, program: process.execPath, args: [program, ...reeveArguments(places)], cwd: root },
    cluster.folder,
  );
  await startUnguarded(reeve, cluster, probesPort);
  const others = state.processes.filter(({ name }) => name !== reeveProcess);
  const own = reeve.process === undefined ? [] : [{ name: reeveProcess, ...reeve.process }];
  await writeState(cluster.folder, { ...state, processes: [...others, ...own] });
  say(`Reeve runs; its log is ${join(cluster.folder, 'reeve.log')}`);
  if (others.length < state.processes.length)
    say('the webhooks lead to it when the Lease of the process that ended has expired, in about 15 seconds');
}

/** Releases the guard only when Reeve is ready, so that an earlier error leaves no process behind. */
async function startUnguarded(reeve: Component, cluster: ClusterAccess, probesPort: number): Promise<void> {
  const guard = new Guard();
  try {
    await reeve.start(guard, cluster.folder);
    await waitUntilReady(reeve, async () => {
      const { status } = await send(`http://127.0.0.1:${probesPort}/readyz`, {});
      return status === 200;
    });
  } catch (error) {
    await reeve.stop();
    throw new Error(`Reeve did not start; see ${join(cluster.folder, 'reeve.log')}`, { cause: error });
  } finally {
    await guard.end();
  }
}
