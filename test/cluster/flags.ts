// The arguments of the three components; our own binary and the original programs take the same.
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
    // The data is thrown away with the folder.
    '--unsafe-no-fsync',
  ];
}

export function apiServerArguments(layout: Layout, ports: Ports, audit: boolean): readonly string[] {
  return [
    `--etcd-servers=${etcdUrl(ports)}`,
    `--secure-port=${ports.apiServer}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // Endpoints must not be loopback addresses, so no controller keeps those of the Service `kubernetes`.
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
    // Without it an open watch delays the end by up to --request-timeout, 60 s; with it, by 2 s.
    '--shutdown-send-retry-after',
    ...(audit ? auditArguments(layout) : []),
  ];
}

/** In megabytes; lumberjack, which writes the file, would begin another one at 100. */
const auditLogMegabytes = 100_000;

function auditArguments(layout: Layout): readonly string[] {
  return [
    `--audit-policy-file=${layout.auditPolicy}`,
    `--audit-log-path=${layout.auditLog}`,
    `--audit-log-maxsize=${auditLogMegabytes}`,
    // A request is over only when it is in the file.
    '--audit-log-mode=blocking',
  ];
}

/** Only the controllers that do what an API server alone lacks; nothing here runs pods. */
export const controllers = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'clusterrole-aggregation-controller',
  'root-ca-certificate-publisher-controller',
] as const;

/** What the one user of all controllers must be bound to when they have no service accounts of their own. */
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
