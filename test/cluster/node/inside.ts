// Runs inside the namespaces of a rig: the control plane with scheduler and kube-proxy, and the nodes.
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startControlPlane, type ControlPlane } from '../control-plane.ts';
import { readJsonFile } from '../json-file.ts';
import { until } from '../../support/until.ts';
import { startNode } from './inside-node.ts';
import { kubeProxyConfig, planeAddress, rigNodes } from './node-files.ts';
import { relay } from './relay.ts';
import { rigLayout, type RigSettings } from './rig-files.ts';

/** Controllers that Pods need, beside those of every control plane here. */
const controllersOfPods = [
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  // The proxy of the API server reads Endpoints: https://kubernetes.io/docs/concepts/services-networking/service/#endpoints
  'endpoints-controller',
  'endpointslice-controller',
  'job-controller',
  'node-lifecycle-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'resourcequota-controller',
  'taint-eviction-controller',
  'ttl-after-finished-controller',
];

async function startPlane({ folder, port, binary }: RigSettings): Promise<ControlPlane> {
  const { plane } = rigLayout(folder);
  return await startControlPlane({
    folder: plane,
    binary,
    apiServerPort: port,
    audit: false,
    // The end of the namespace ends all of it.
    endsWithUs: false,
    apiServerFlags: [
      '--bind-address=0.0.0.0',
      `--advertise-address=${planeAddress}`,
      '--endpoint-reconciler-type=lease',
      // Adds to RBAC: https://kubernetes.io/docs/reference/access-authn-authz/node/
      '--authorization-mode=Node',
      '--enable-admission-plugins=NodeRestriction',
      `--kubelet-client-certificate=${join(plane, 'admin.crt')}`,
      `--kubelet-client-key=${join(plane, 'user.key')}`,
      '--kubelet-preferred-address-types=InternalIP',
    ],
    controllerFlags: [`--controllers=${controllersOfPods.join(',')}`],
  });
}

/** kube-proxy reads Services and Nodes: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#other-component-roles */
async function grantToProxies({ admin }: ControlPlane): Promise<void> {
  await admin.mustSend('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'reeve-test:kube-proxy' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-proxier' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:kube-proxy' }],
  });
}

async function startOthers(
  plane: ControlPlane,
  { folder, parts }: RigSettings,
  first: string,
): Promise<void> {
  const run = (name: string, ...args: readonly string[]): void => {
    const log = openSync(join(folder, `${name}.log`), 'a', 0o600);
    spawn(parts, [name, ...args], { cwd: folder, stdio: ['ignore', log, log] });
  };
  const scheduler = await plane.clientKubeconfig('system:kube-scheduler');
  run('kube-scheduler', `--kubeconfig=${scheduler}`, '--leader-elect=false', '--secure-port=0');
  // The API server reaches Services through this kube-proxy. Its machine is no node, so it asks in the name of one.
  const config = join(folder, 'kube-proxy.json');
  const kubeconfig = await plane.clientKubeconfig('system:kube-proxy');
  await writeFile(config, JSON.stringify(kubeProxyConfig(first, kubeconfig)));
  run('kube-proxy', `--config=${config}`);
}

interface NodeList {
  readonly items: readonly {
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

async function readyNodes({ admin }: ControlPlane): Promise<number> {
  const { items } = (await admin.mustSend('GET', '/api/v1/nodes')) as NodeList;
  return items.filter(({ status }) =>
    status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
  ).length;
}

const [, , folder = ''] = process.argv;
const layout = rigLayout(folder);
const settings = await readJsonFile<RigSettings>(layout.settings);
if (settings === undefined) throw new Error(`${folder} holds no rig`);
const plane = await startPlane(settings);
await grantToProxies(plane);
await relay(layout.socket, { host: '127.0.0.1', port: settings.port });
const nodes = rigNodes(folder, settings.nodes);
await startOthers(plane, settings, nodes[0]?.name ?? '');
for (const node of nodes) await startNode(plane, node);
await until(
  async () => (await readyNodes(plane)) === nodes.length,
  async () => `${nodes.length} nodes are Ready, found ${await readyNodes(plane)}`,
  120,
);
await writeFile(layout.ready, '');
