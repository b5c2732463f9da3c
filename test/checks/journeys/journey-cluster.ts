// A sandbox in the process of the test, with Reeve installed, for programs in processes of their own.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crdOf, kindDefinitions } from '../../../src/api/kinds.ts';
import { connect, type ClusterConnection } from '../../../src/app/cluster-connection.ts';
import { reconcilerAccount } from '../../../src/schema/names.ts';
import { loadObjects, startLocalSandbox } from '../../../src/app/up.ts';
import { shippedFolder } from '../../../src/app/shipped-files.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { serviceAccountIdentity } from '../../../src/sandbox/access/users.ts';
import { until } from '../../support/until.ts';
import { RecordedProgram } from './recorded-program.ts';

type LocalSandbox = Awaited<ReturnType<typeof startLocalSandbox>>;

const installNamespace = 'reeve-system';
const needNodes = ['Service', 'Deployment', 'PodDisruptionBudget'];

/** The parts that journeys wait for. */
export interface Stored {
  readonly items?: readonly { readonly series?: { readonly count: number } }[];
  readonly status?: {
    readonly synced?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export class JourneyCluster {
  readonly #sandbox: LocalSandbox;
  readonly #connection: ClusterConnection;
  readonly #errors: readonly unknown[];

  private constructor(sandbox: LocalSandbox, connection: ClusterConnection, errors: readonly unknown[]) {
    this.#sandbox = sandbox;
    this.#connection = connection;
    this.#errors = errors;
  }

  /** `policies`: a folder with policies and shares. Default: those of `reeve up`. */
  static async create(policies = shippedFolder(join('samples', 'first-steps'))): Promise<JourneyCluster> {
    const errors: unknown[] = [];
    const sandbox = await startLocalSandbox(
      { namespace: installNamespace, apiPort: 0 },
      { onError: (error) => errors.push(error) },
    );
    const connection = await connect(() => sandbox.serverFor(sandbox.adminToken), 1);
    for (const definition of kindDefinitions) {
      await connection.writer.create(crdOf(definition));
    }
    const install = ['install', join('all-in-one', '10-rights.yaml')].map((part) => shippedFolder(part));
    for (const part of [...install, policies]) await loadObjects(part, connection, needNodes);
    return new JourneyCluster(sandbox, connection, errors);
  }

  /** Starts Reeve with the rights of its service account. Without an election, which would renew a Lease during a journey. */
  async start(role: 'webhook' | 'reconciler'): Promise<RecordedProgram> {
    const { folder, kubeconfig, adminToken } = this.#sandbox;
    const user = serviceAccountIdentity(installNamespace, reconcilerAccount, reconcilerAccount);
    const ofAdmin = await readFile(kubeconfig, 'utf8');
    const ofReeve = join(folder, 'kubeconfig-of-reeve');
    await writeFile(ofReeve, ofAdmin.replace(adminToken, this.#sandbox.tokenFor(user)));
    return new RecordedProgram([
      'run',
      `--role=${role}`,
      `--kubeconfig=${ofReeve}`,
      `--certs-dir=${folder}`,
      '--host=127.0.0.1',
      '--port=0',
      '--probes-port=0',
      '--manage-webhooks=false',
      '--leader-elect=false',
    ]);
  }

  async store(object: KubeObject): Promise<void> {
    await this.#connection.writer.create(object);
  }

  /** Waits until the object or list at the path meets the condition. */
  async waitFor(path: string, isMet: (stored: Stored) => boolean): Promise<void> {
    let last: Stored = {};
    await until(
      async () => {
        last = await this.#connection.client.request({ method: 'GET', path });
        return isMet(last);
      },
      () => `${path}: ${JSON.stringify(last)}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.client.close();
    await this.#sandbox.close();
    if (this.#errors.length > 0) throw new AggregateError(this.#errors, String(this.#errors[0]));
  }
}
