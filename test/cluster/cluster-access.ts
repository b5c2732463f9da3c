// Uses a running control plane from any process. The folder of the control plane is enough to find it.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AdminClient, send } from './admin-client.ts';
import { openAuditLog, type AuditLog } from './audit-log.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import type { Credentials } from './kubeconfig.ts';
import { layoutOf, readState } from './layout.ts';
import type { ClusterState, Layout } from './layout.ts';
import { userCertificate } from './pki.ts';

export interface ClusterAddress {
  readonly server: string;
  readonly etcd: string;
  readonly hasControllers: boolean;
  /** True for a sandbox in place of a control plane. It has no nodes, no Services and no etcd. */
  readonly isSandbox?: boolean;
}

/** The certificates are valid for the same time. */
const tokenSeconds = 30 * 24 * 60 * 60;

export class ClusterAccess {
  readonly folder: string;
  /** The kubeconfig of the administrator, a member of system:masters. */
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly server: string;
  readonly hasControllers: boolean;
  readonly isSandbox: boolean;
  /** Sends requests as the administrator, where kubectl is too slow or changes the request. */
  readonly admin: AdminClient;
  /** The address of etcd over plain HTTP, for tests that bypass the API server. */
  readonly etcd: string;
  readonly #layout: Layout;

  constructor(folder: string, address: ClusterAddress) {
    const layout = layoutOf(folder);
    this.folder = folder;
    this.kubeconfig = layout.kubeconfig;
    this.caFile = layout.caFile;
    this.server = address.server;
    this.hasControllers = address.hasControllers;
    this.isSandbox = address.isSandbox ?? false;
    this.admin = new AdminClient(address.server, layout);
    this.etcd = address.etcd;
    this.#layout = layout;
  }

  /** Returns the path of a kubeconfig with a client certificate of an ordinary user. The same user gets the same file. */
  async clientKubeconfig(user: string, groups: readonly string[] = []): Promise<string> {
    const [certPem, authorityKey, keyPem] = await Promise.all([
      readFile(this.#layout.caFile, 'utf8'),
      readFile(this.#layout.caKey, 'utf8'),
      readFile(this.#layout.userKey, 'utf8'),
    ]);
    const authority = { certPem, keyPem: authorityKey };
    const signed = userCertificate(authority, keyPem, user, groups);
    return await this.#writeKubeconfig(user, [user, ...groups], {
      kind: 'certificate',
      certPem: signed,
      keyPem,
    });
  }

  /** Returns the path of a kubeconfig with a token of the service account, which must exist. */
  async tokenKubeconfig(namespace: string, name: string): Promise<string> {
    const answer = await this.admin.mustSend(
      'POST',
      `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: tokenSeconds },
      },
    );
    const { token } = (answer as { readonly status: { readonly token: string } }).status;
    const user = `system:serviceaccount:${namespace}:${name}`;
    return await this.#writeKubeconfig(user, ['token', user], { kind: 'token', token });
  }

  /** Reads the audit log from its beginning. The control plane must run with `audit`. */
  auditLog(): AuditLog {
    return openAuditLog(this.#layout.auditLog, this.admin);
  }

  /**
   * Removes all history of etcd. An API server with --watch-cache=false then answers 410 to a watch, or to the rest of a
   * list, at any resourceVersion known so far. With its watch cache, it serves both from memory until it restarts. After
   * the restart it knows nothing older than its start.
   */
  async compact(): Promise<void> {
    const key = Buffer.from('/reeve-test/compaction').toString('base64');
    // A compaction keeps its own revision, so etcd would still serve a watch from the revision before it.
    await this.#askEtcd('put', { key });
    const { header } = await this.#askEtcd<{ readonly header: { readonly revision: string } }>('put', {
      key,
    });
    await this.#askEtcd('compaction', { revision: header.revision, physical: true });
  }

  /** https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ */
  async #askEtcd<T>(method: string, body: unknown): Promise<T> {
    const answer = await send(`${this.etcd}/v3/kv/${method}`, { method: 'POST' }, body);
    if (answer.status === 200) return answer.body as T;
    throw new Error(`etcd ${method}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async #writeKubeconfig(user: string, key: readonly string[], credentials: Credentials): Promise<string> {
    const hash = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 12);
    const path = join(this.#layout.users, `${user.replaceAll(/[^\w.-]/g, '_').slice(0, 60)}-${hash}`);
    const caPem = await readFile(this.#layout.caFile, 'utf8');
    await mkdir(this.#layout.users, { recursive: true, mode: 0o700 });
    // Another test may write or read the same file.
    const temporary = `${path}.${process.pid}.${performance.now()}`;
    await writeFile(temporary, kubeconfigOf(this.server, caPem, user, credentials), { mode: 0o600 });
    await rename(temporary, path);
    return path;
  }
}

/** Opens a control plane that another process has started. Returns undefined when the folder has none. */
export async function openCluster(folder: string): Promise<ClusterAccess | undefined> {
  const state: ClusterState | undefined = await readState(folder);
  return state === undefined ? undefined : new ClusterAccess(folder, state);
}
