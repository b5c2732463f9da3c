// The arguments of the three components. The built binary and the original programs accept the same ones.
import type { Layout } from './layout.ts';

export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
}

export function etcdArguments(layout: Layout, ports: Ports): readonly string[] {
  const client = etcdUrl(ports);
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    `--data-dir=${layout.etcdData}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--log-level=warn',
    // The data is deleted with the folder, so it need not survive a crash of the machine.
    '--unsafe-no-fsync',
  ];
}

export function apiServerArguments(layout: Layout, ports: Ports, audit: boolean): readonly string[] {
  return [
    `--etcd-servers=${etcdUrl(ports)}`,
    `--secure-port=${ports.apiServer}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // Endpoints must not be loopback addresses, so no controller maintains those of the Service `kubernetes`.
    '--endpoint-reconciler-type=none',
    `--cert-dir=${layout.folder}`,
    `--tls-cert-file=${layout.serverCertificate}`,
    `--tls-private-key-file=${layout.serverKey}`,
    `--client-ca-file=${layout.caFile}`,
    '--authorization-mode=RBAC',
    '--allow-privileged',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${layout.tokenPublicKey}`,
    `--service-account-signing-key-file=${layout.tokenKey}`,
    // Without this flag an open watch delays the end by up to --request-timeout, 60 s; with it, by 2 s.
    '--shutdown-send-retry-after',
    ...(audit ? auditArguments(layout) : []),
  ];
}

/** The size in megabytes. lumberjack, which writes the file, would otherwise begin another file at 100. */
const auditLogMegabytes = 100_000;

function auditArguments(layout: Layout): readonly string[] {
  return [
    `--audit-policy-file=${layout.auditPolicy}`,
    `--audit-log-path=${layout.auditLog}`,
    `--audit-log-maxsize=${auditLogMegabytes}`,
    // A request ends only after its record has been written.
    '--audit-log-mode=blocking',
  ];
}

/** The controllers whose work the tests need. No pods run here. */
export const controllers = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'clusterrole-aggregation-controller',
  'root-ca-certificate-publisher-controller',
] as const;

/** The roles that the one user of all controllers needs when the controllers have no service accounts. */
export const controllerRoles = [
  'system:controller:namespace-controller',
  'system:controller:generic-garbage-collector',
  'system:controller:service-account-controller',
  'system:controller:clusterrole-aggregation-controller',
  'system:controller:root-ca-cert-publisher',
] as const;

export const controllersUser = 'system:kube-controller-manager';

export function controllerManagerArguments(layout: Layout, ownAccounts: boolean): readonly string[] {
  return [
    `--kubeconfig=${layout.controllersKubeconfig}`,
    '--leader-elect=false',
    '--secure-port=0',
    `--controllers=${controllers.join(',')}`,
    `--root-ca-file=${layout.caFile}`,
    `--service-account-private-key-file=${layout.tokenKey}`,
    `--use-service-account-credentials=${ownAccounts}`,
  ];
}

export function etcdUrl(ports: Ports): string {
  return `http://127.0.0.1:${ports.etcd}`;
}
