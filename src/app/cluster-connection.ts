// Opens the connection to the API server that the whole program shares.
import type { KubeClient } from '../kube/http/client.ts';
import { CredentialError, type ApiServer } from '../kube/http/http-exchange.ts';
import { createDiscovery, type Discovery, KubeObjectWriter } from '../kube/object-writer.ts';
import type { ObjectWriter } from '../base/object-writer.ts';
import { createKubeClient } from '../kube/http/https-client.ts';
import { ConnectionMetrics } from '../observe/connection-metrics.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import { StartError } from '../base/start-error.ts';
import { noTracing, type Tracing } from './tracing.ts';

export interface ClusterConnection {
  /** Says where the cluster is and how it was found. */
  readonly description: string;
  /** The address of the API server alone, for texts that others will read. */
  readonly address: string;
  readonly isOfPod: boolean;
  readonly client: KubeClient;
  readonly discovery: Discovery;
  readonly writer: ObjectWriter & Pick<KubeObjectWriter, 'create'>;
}

/** Rejects with a StartError. */
export async function connect(
  findServer: () => Promise<ApiServer>,
  concurrency: number,
  registry?: MetricsRegistry,
  tracing: Tracing = noTracing,
): Promise<ClusterConnection> {
  try {
    const apiServer = await findServer();
    const metrics = registry && new ConnectionMetrics(registry);
    const plainClient = createKubeClient(apiServer, {
      // The rest is for access reviews and look-ups of the webhook, which must not wait for the workers.
      maxConnections: concurrency + 16,
      onRefused: (code) => metrics?.refused(code),
    });
    const client = tracing.client(plainClient);
    const discovery = createDiscovery(client);
    const address = apiServer.server.origin;
    const description = `${address} (${apiServer.description})`;
    const { isOfPod = false } = apiServer;
    return {
      description,
      address,
      isOfPod,
      client,
      discovery,
      writer: new KubeObjectWriter(client, discovery),
    };
  } catch (error) {
    if (error instanceof CredentialError) throw new StartError(error.message);
    throw error;
  }
}
