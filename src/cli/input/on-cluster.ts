// Runs a command on a cluster: connects, ends the connection, and reports an error of the connection in one line.
import { connect, type ClusterConnection } from '../../app/cluster-connection.ts';
import { KubeError } from '../../base/kube-error.ts';
import { StartError } from '../../base/start-error.ts';
import { CredentialError } from '../../kube/http/http-exchange.ts';
import { exitCodes } from '../exit-codes.ts';
import { findApiServer, type ApiServerChoice } from '../../kube/auth/find-api-server.ts';

type Choice = Pick<ApiServerChoice, 'kubeconfig' | 'context'>;

const concurrency = 16;

/** Returns the exit code of the work, or `unknown` if the cluster does not answer. */
export async function onCluster(
  { kubeconfig, context }: Choice,
  environment: ApiServerChoice['environment'],
  stderr: (text: string) => void,
  work: (connection: ClusterConnection) => Promise<number>,
): Promise<number> {
  try {
    const connection = await connect(() => findApiServer({ kubeconfig, context, environment }), concurrency);
    try {
      return await work(connection);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      stderr(`${connection.description}: ${error.message}\n`);
      return exitCodes.unknown;
    } finally {
      connection.client.close();
    }
  } catch (error) {
    if (!(error instanceof StartError || error instanceof CredentialError)) throw error;
    stderr(`${error.message}\n`);
    return exitCodes.unknown;
  }
}
