// Installs Reeve on a control plane from manifests/, and runs it from source under the service account it ships with.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeCertificateFiles } from '../../src/certs/files.ts';
import { issueCertificates } from '../../src/certs/issue.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { send } from './admin-client.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { Component } from './component.ts';
import { Guard } from './guard.ts';
import { readState, writeState } from './layout.ts';
import { freePorts } from './ports.ts';
import { isRunning } from './process-identity.ts';
import { waitUntilReady } from './readiness.ts';

type Say = (text: string) => void;

const root = resolve(import.meta.dirname, '..', '..');
const program = join(root, 'src', 'main.ts');
const namespace = 'reeve-system';
const serviceAccount = 'reeve-reconciler';
const service = 'reeve-webhook';

interface ReevePlaces {
  readonly kubeconfig: string;
  readonly certsFolder: string;
  readonly port: number;
  readonly probesPort: number;
}

/** All that the source knows of the flags of `reeve run`. */
export function reeveArguments(places: ReevePlaces): readonly string[] {
  return [
    'run',
    '--role=all',
    `--kubeconfig=${places.kubeconfig}`,
    `--certs-dir=${places.certsFolder}`,
    `--port=${places.port}`,
    `--probes-port=${places.probesPort}`,
  ];
}

export async function reeveUp(cluster: ClusterAccess, say: Say): Promise<void> {
  const state = await readState(cluster.folder);
  if (state === undefined) throw new Error('the control plane has gone');
  if (state.processes.some((component) => component.name === 'reeve' && isRunning(component))) {
    say('Reeve runs already');
    return;
  }
  const [port = 0, probesPort = 0] = await freePorts(2);
  await install(cluster);
  await pointServiceAt(cluster);
  const places = {
    kubeconfig: await cluster.tokenKubeconfig(namespace, serviceAccount),
    certsFolder: await certificates(cluster),
    port,
    probesPort,
  };
  const reeve = new Component(
    { name: 'reeve', program: process.execPath, args: [program, ...reeveArguments(places)], cwd: root },
    cluster.folder,
  );
  await startUnguarded(reeve, cluster, probesPort);
  const others = state.processes.filter(({ name }) => name !== 'reeve');
  const own = reeve.process === undefined ? [] : [{ name: 'reeve', ...reeve.process }];
  await writeState(cluster.folder, { ...state, processes: [...others, ...own] });
  say(`Reeve runs; its log is ${join(cluster.folder, 'reeve.log')}`);
}

/** The guard is released only when it is ready: whatever happens before, no half-started process is left behind. */
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

async function install(cluster: ClusterAccess): Promise<void> {
  await mustKubectl(['apply', '-f', 'manifests/crds'], cluster);
  await mustKubectl(
    ['wait', '--for=condition=Established', '-f', 'manifests/crds', '--timeout=60s'],
    cluster,
  );
  await mustKubectl(['apply', '-f', 'manifests/install'], cluster);
  // What `--role all` needs beyond that; nothing here runs the pods of a Deployment.
  await mustKubectl(['apply', '-f', 'manifests/all-in-one'], cluster);
}

/** Nothing here makes a cluster IP work; an external name leads to the port of the webhook configuration itself. */
async function pointServiceAt(cluster: ClusterAccess): Promise<void> {
  await kubectl(['delete', 'service', service, '-n', namespace, '--ignore-not-found'], cluster);
  await mustKubectl(
    ['create', 'service', 'externalname', service, '-n', namespace, '--external-name=localhost'],
    cluster,
  );
}

async function certificates(cluster: ClusterAccess): Promise<string> {
  const folder = join(cluster.folder, 'reeve-certs');
  if (existsSync(folder)) return folder;

  const issued = await issueCertificates({
    namespace,
    now: new Date(),
    caLifetimeDays: 30,
    leafLifetimeDays: 30,
  });
  await writeCertificateFiles(folder, issued, false);
  return folder;
}
