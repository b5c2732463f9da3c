// The files in the folder of a control plane, and the state that the folder shows to other processes.
import { join } from 'node:path';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** The name of the process of Reeve beside the components of the control plane. */
export const reeveProcess = 'reeve';

export interface NamedProcess extends ProcessIdentity {
  readonly name: string;
}

export interface ClusterState {
  readonly server: string;
  readonly etcd: string;
  /** False: nothing is garbage collected, there are no default service accounts, and the role `edit` is empty. */
  readonly hasControllers: boolean;
  /** The processes in the order of their start. */
  readonly processes: readonly NamedProcess[];
}

export interface Layout {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly controllersKubeconfig: string;
  readonly state: string;
  readonly etcdData: string;
  readonly auditPolicy: string;
  readonly auditLog: string;
  readonly users: string;
  readonly caFile: string;
  readonly caKey: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  readonly userKey: string;
  readonly adminCertificate: string;
  readonly tokenKey: string;
  readonly tokenPublicKey: string;
}

export function layoutOf(folder: string): Layout {
  return {
    folder,
    kubeconfig: join(folder, 'kubeconfig'),
    controllersKubeconfig: join(folder, 'controllers.kubeconfig'),
    state: join(folder, 'cluster.json'),
    etcdData: join(folder, 'etcd'),
    auditPolicy: join(folder, 'audit-policy.yaml'),
    auditLog: join(folder, 'audit.log'),
    users: join(folder, 'users'),
    caFile: join(folder, 'ca.crt'),
    caKey: join(folder, 'ca.key'),
    serverCertificate: join(folder, 'apiserver.crt'),
    serverKey: join(folder, 'apiserver.key'),
    userKey: join(folder, 'user.key'),
    adminCertificate: join(folder, 'admin.crt'),
    tokenKey: join(folder, 'service-account.key'),
    tokenPublicKey: join(folder, 'service-account.pub'),
  };
}

export async function writeState(folder: string, state: ClusterState): Promise<void> {
  await writeJsonFile(layoutOf(folder).state, state);
}

/** Returns undefined when there is no state. */
export async function readState(folder: string): Promise<ClusterState | undefined> {
  return await readJsonFile(layoutOf(folder).state);
}
