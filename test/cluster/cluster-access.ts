// What a test or a person does with a running control plane, from whatever process: all it needs is the folder.
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
  /** In place of a control plane: without nodes, Services and etcd. */
  readonly isSandbox?: boolean;
}

/** As long as the certificates are good. */
const tokenSeconds = 30 * 24 * 60 * 60;

export class ClusterAccess {
  readonly folder: string;
  /** The kubeconfig of the administrator, a member of system:masters. */
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly server: string;
  readonly hasControllers: boolean;
  readonly isSandbox: boolean;
  /** Requests as the administrator, for what kubectl is too slow or too clever for. */
  readonly admin: AdminClient;
  /** The address of etcd, plain HTTP, for tests that look behind the API server. */
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

  /** The path of a kubeconfig for an ordinary user, known by a client certificate; always the same for the same user. */
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

  /** The path of a kubeconfig with a token of the service account, which must exist. */
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

  /** Reads the audit log from its beginning; needs a control plane that was started with `audit`. */
  auditLog(): AuditLog {
    return openAuditLog(this.#layout.auditLog, this.admin);
  }

  /**
   * Throws away all history of etcd: a watch or the rest of a list at any resourceVersion known so far is answered with
   * 410, by an API server that runs with --watch-cache=false. Otherwise its watch cache goes on serving both from
   * memory; when it starts again, it knows nothing older than its start.
   */
  async compact(): Promise<void> {
    const key = Buffer.from('/reeve-test/compaction').toString('base64');
    // A compaction keeps its own revision, and a watch at the one before it would still be served.
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
    // Another test may be making, or using, the very same one.
    const temporary = `${path}.${process.pid}.${performance.now()}`;
    await writeFile(temporary, kubeconfigOf(this.server, caPem, user, credentials), { mode: 0o600 });
    await rename(temporary, path);
    return path;
  }
}

/** Access to a control plane that another process has started; undefined when the folder has none. */
export async function openCluster(folder: string): Promise<ClusterAccess | undefined> {
  const state: ClusterState | undefined = await readState(folder);
  return state === undefined ? undefined : new ClusterAccess(folder, state);
}
