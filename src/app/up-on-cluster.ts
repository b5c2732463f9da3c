// Joins `reeve up --kubeconfig`: the reconciler on this machine for a cluster that Reeve is installed on.
import { apiVersion } from '../api/names.ts';
import { KubeError } from '../base/kube-error.ts';
import { CredentialError, connectionTo } from '../kube/auth/credentials.ts';
import { findApiServer, type ApiServerChoice } from '../kube/auth/find-api-server.ts';
import { requestedTokenSource } from '../kube/auth/requested-token.ts';
import type { Log } from '../observe/log.ts';
import { connect, type ClusterConnection } from './cluster-connection.ts';
import { reconcilerAccount } from './reconciler-role.ts';
import { startProgram, type RunningProgram, type RunSettings } from './run.ts';
import { StartError } from './start-error.ts';
import type { Witness } from './witness.ts';

/**
 * It works under the account that Reeve is installed with: nobody else, not even an administrator, may write what Reeve
 * keeps. Rejects with a StartError.
 */
export async function startOnCluster(
  settings: RunSettings,
  choice: ApiServerChoice,
  log: Log,
  witness: Witness,
): Promise<RunningProgram> {
  const connection = await connect(() => findApiServer(choice), settings.concurrency);
  const { client } = connection;
  try {
    await checkInstalled(connection, settings.namespace);
    const account = { namespace: settings.namespace, name: reconcilerAccount };
    const source = requestedTokenSource(await findApiServer(choice), client, account);
    const program = await startProgram(settings, () => connectionTo(source), log, { witness });
    return {
      ...program,
      stop: async (graceMs, signal) => {
        await program.stop(graceMs, signal);
        client.close();
      },
    };
  } catch (error) {
    client.close();
    throw forOperator(error, connection);
  }
}

function forOperator(error: unknown, { description }: ClusterConnection): unknown {
  if (error instanceof CredentialError) return new StartError(error.message);
  return error instanceof KubeError ? new StartError(`${description}: ${error.message}`) : error;
}

async function checkInstalled({ discovery, writer }: ClusterConnection, namespace: string): Promise<void> {
  const own = { apiVersion: 'v1', kind: 'Namespace', name: namespace };
  const parts = [discovery.find(apiVersion, 'NamespacePolicy'), writer.read(own)];
  if (!(await Promise.all(parts)).includes(undefined)) return;
  throw new StartError(
    `the cluster has no Reeve yet: kubectl apply -f manifests/crds -f manifests/install makes its kinds and the namespace ${namespace}`,
  );
}
