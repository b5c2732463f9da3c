// Runs Gatekeeper without any constraint, with the flags of its own manifest, as the administrator of a control plane.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeCertificateFiles } from '../../../src/certs/files/files.ts';
import { issueCertificates } from '../../../src/certs/issue/issue.ts';
import { freePorts } from '../../cluster/ports.ts';
import { send } from '../../cluster/admin-client.ts';
import { until } from '../../support/until.ts';
import { startGuarded, type GuardedProcess } from '../guarded-process.ts';
import { serverCore } from '../cores.ts';
import type { PeerPlane } from './peer-plane.ts';
import type { PeerPrograms } from './peer-programs.ts';
import { installManifests } from './peer-manifests.ts';

const namespace = 'gatekeeper-system';
export const gatekeeperPath = '/v1/admit?timeout=3s';

export interface Gatekeeper extends GuardedProcess {
  readonly port: number;
}

export async function startGatekeeper(
  { cluster, guard }: Pick<PeerPlane, 'cluster' | 'guard'>,
  { folder, paths }: PeerPrograms,
): Promise<Gatekeeper> {
  const [port = 0, health = 0, metrics = 0] = await freePorts(3);
  const certificates = join(cluster.folder, 'gatekeeper-certs');
  const lifetimes = { caLifetimeDays: 2, leafLifetimeDays: 1 };
  await writeCertificateFiles(
    certificates,
    await issueCertificates({ namespace, now: new Date(), ...lifetimes }),
    false,
  );
  const authority = await readFile(join(certificates, 'ca.crt'));
  await installManifests(cluster, join(folder, 'deploy/gatekeeper.yaml'), (document) =>
    withUrl(document, `https://127.0.0.1:${port}`, authority.toString('base64')),
  );
  const process = await startGuarded(
    {
      name: 'gatekeeper',
      program: paths['gatekeeper'] ?? '',
      args: [
        `--port=${port}`,
        '--host=127.0.0.1',
        `--health-addr=127.0.0.1:${health}`,
        `--prometheus-port=${metrics}`,
        `--cert-dir=${certificates}`,
        '--disable-cert-rotation',
        '--shutdown-delay=0',
        '--logtostderr',
        `--exempt-namespace=${namespace}`,
        '--operation=webhook',
        '--operation=mutation-webhook',
        '--disable-opa-builtin={http.send}',
      ],
      env: {
        KUBECONFIG: cluster.kubeconfig,
        POD_NAME: 'gatekeeper',
        POD_NAMESPACE: namespace,
        NAMESPACE: namespace,
        HOME: cluster.folder,
      },
      folder: cluster.folder,
      core: serverCore,
    },
    guard,
  );
  await until(
    async () => (await send(`http://127.0.0.1:${health}/readyz`, {}).catch(() => undefined))?.status === 200,
    () => 'Gatekeeper is ready',
    120,
  );
  return { ...process, port };
}

/** No node serves the Service of the webhook configurations. */
function withUrl(document: string, url: string, authority: string): string {
  return document.replaceAll(
    /^( +)service:\n +name: \S+\n +namespace: \S+\n +path: (\S+)$/gm,
    (_, indent: string, path: string) => `${indent}url: ${url}${path}\n${indent}caBundle: ${authority}`,
  );
}
