// Starts one node of a rig in namespaces of its own, and links its network with that of the rig.
import { execFile } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ClusterAccess } from '../cluster-access.ts';
import { createCgroups, moveProcess } from './cgroups.ts';
import { firstProcess, startIsolated } from './namespaces.ts';
import { linkOf, planeAddress, writeNodeFiles, type RigNode } from './node-files.ts';

/** As mounts.sh mounts them. */
const hierarchies = '/sys/fs/cgroup';
const version = process.env['RIG_CGROUPS'] === '2' ? 2 : 1;

export async function startNode(plane: ClusterAccess, node: RigNode): Promise<void> {
  const { name, home, address, zone, podRange } = node;
  await writeNodeFiles(node, plane.caFile);
  const kubelet = await plane.clientKubeconfig(`system:node:${name}`, ['system:nodes']);
  await writeKubeconfig(plane, kubelet, join(home, 'kubelet.kubeconfig'));
  const proxier = await plane.clientKubeconfig('system:kube-proxy');
  await writeKubeconfig(plane, proxier, join(home, 'kube-proxy.kubeconfig'));
  const label = `--node-labels=topology.kubernetes.io/zone=${zone}`;
  const log = openSync(join(home, 'node.log'), 'a', 0o600);
  const child = startIsolated({
    program: [join(import.meta.dirname, 'node.sh'), name, address, label],
    cwd: home,
    env: { ...process.env, HOME: home, RIG_HOME: home },
    log,
    cgroups: createCgroups({ version, parents: ownCgroups() }, name),
  });
  closeSync(log);
  const first = await firstProcess(child);
  if (first === undefined) throw new Error(`${name} ended; see ${join(home, 'node.log')}`);
  if (version === 2 && child.pid !== undefined) moveProcess(child.pid, [join(hierarchies, 'own')]);
  await ip('link', 'add', linkOf(node), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(first));
  await ip('link', 'set', linkOf(node), 'master', 'rig0', 'up');
  await ip('route', 'add', podRange, 'via', address);
}

function ownCgroups(): readonly string[] {
  return version === 2 ? [hierarchies] : readdirSync(hierarchies).map((name) => join(hierarchies, name));
}

/** A node reaches the API server at an address for which the server's certificate does not stand. */
async function writeKubeconfig(plane: ClusterAccess, from: string, to: string): Promise<void> {
  const config = JSON.parse(await readFile(from, 'utf8')) as {
    readonly clusters: readonly { readonly cluster: Record<string, string> }[];
  };
  for (const { cluster } of config.clusters) {
    cluster['server'] = plane.server.replace('127.0.0.1', planeAddress);
    cluster['tls-server-name'] = 'kubernetes.default.svc';
  }
  await writeFile(to, JSON.stringify(config), { mode: 0o600 });
}

async function ip(...args: readonly string[]): Promise<void> {
  await promisify(execFile)('ip', [...args]);
}
