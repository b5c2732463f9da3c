// The configuration files of one node: containerd, its network plugin, kubelet and kube-proxy.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface RigNode {
  readonly name: string;
  readonly address: string;
  readonly podRange: string;
  readonly zone: string;
  /** The folder with all that belongs to the node. */
  readonly home: string;
}

/** The machine of the control plane, and the other end of the links of all nodes. */
export const planeAddress = '172.30.0.1';

/** The addresses of all nodes and Pods. They exist only in the network namespaces of a rig. */
const everyAddress = '172.30.0.0/16';

export const pauseImage = 'localhost/pause:1';

export function rigNodes(folder: string, count: number): readonly RigNode[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `node-${index + 1}`;
    return {
      name,
      address: `172.30.0.${index + 2}`,
      podRange: `172.30.${index + 1}.0/24`,
      zone: `zone-${index + 1}`,
      home: join(folder, name),
    };
  });
}

/** The end of a node's link that is in the network of the rig. */
export function linkOf({ name }: RigNode): string {
  return `rig-${name}`;
}

export async function writeNodeFiles(node: RigNode, clientCaFile: string): Promise<void> {
  const { home } = node;
  for (const folder of ['cni', 'kubelet']) await mkdir(join(home, folder), { recursive: true });
  const files: readonly (readonly [string, string])[] = [
    ['containerd.toml', containerdConfig(home)],
    ['cni/10-node.conflist', JSON.stringify(networkOf(node))],
    ['kubelet.json', JSON.stringify(kubeletConfig(home, clientCaFile))],
    ['kube-proxy.json', JSON.stringify(kubeProxyConfig(node.name, join(home, 'kube-proxy.kubeconfig')))],
    // Pods have no name server: Reeve needs none.
    ['resolv.conf', ''],
  ];
  for (const [name, text] of files) await writeFile(join(home, name), text);
}

/** https://github.com/containerd/containerd/blob/release/1.6/docs/cri/config.md */
function containerdConfig(home: string): string {
  return `version = 2
root = "${home}/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Root of a machine without CAP_SYS_RESOURCE may not lower an OOM score.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${home}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      # crun, which some machines prefer, refuses hybrid cgroups.
      BinaryName = "runc"
`;
}

/** https://www.cni.dev/plugins/current/main/ptp/ */
function networkOf({ podRange }: RigNode): object {
  const ipam = {
    type: 'host-local',
    dataDir: '/run/cni',
    ranges: [[{ subnet: podRange }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  return { cniVersion: '0.4.0', name: 'node', plugins: [{ type: 'ptp', ipMasq: false, mtu: 1500, ipam }] };
}

/** https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/. What is not named here has its default. */
function kubeletConfig(home: string, clientCaFile: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    authentication: {
      x509: { clientCAFile: clientCaFile },
      webhook: { enabled: true },
      anonymous: { enabled: false },
    },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    // The disk is that of the machine, however full it is.
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    clusterDomain: 'cluster.local',
    clusterDNS: ['10.0.0.10'],
    resolvConf: join(home, 'resolv.conf'),
  };
}

/** https://kubernetes.io/docs/reference/config-api/kube-proxy-config.v1alpha1/ */
export function kubeProxyConfig(nodeName: string, kubeconfig: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig },
    clusterCIDR: everyAddress,
    hostnameOverride: nodeName,
    // These sysctls belong to the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
}
