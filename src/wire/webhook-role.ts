// Joins the role "webhook" on a cluster: the server, what it asks the API server, and its webhook configurations.
import type { ServerLimits } from '../admission/server-limits.ts';
import { createAccessReviewer } from '../kube/access-review.ts';
import { createNamespaceFinder } from '../kube/namespace-finder.ts';
import type { AdmissionMetrics } from '../observe/admission-metrics.ts';
import type { Log } from '../observe/log.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { objectTypeOf } from './object-type.ts';
import { startAdmission, type AdmissionSettings } from './admission-server.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { keepConfigurations, type ConfigurationSettings } from './webhook-configurations.ts';
import { StartError } from './start-error.ts';
import type { Witness } from './witness.ts';

export interface WebhookRoleSettings extends AdmissionSettings, ConfigurationSettings {
  readonly manageWebhooks: boolean;
  readonly sharedNamespace: readonly string[];
  readonly resourceKind: readonly string[];
}

export interface WebhookContext {
  readonly connection: ClusterConnection;
  readonly cluster: LiveCluster;
  readonly log: Log;
  readonly metrics: AdmissionMetrics;
  readonly witness: Witness;
  readonly limits: ServerLimits;
  readonly fail: (error: unknown) => void;
}

export interface RunningWebhookRole {
  readonly url: string;
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

/** Rejects with a StartError. */
export async function startWebhookRole(
  settings: WebhookRoleSettings,
  context: WebhookContext,
): Promise<RunningWebhookRole> {
  const { connection, cluster, log, metrics, witness, limits } = context;
  const sources = {
    snapshot: () => (cluster.isSynced ? cluster.snapshot() : undefined),
    namespaces: createNamespaceFinder(connection.client),
    access: createAccessReviewer(connection.client),
    install: {
      sourceNamespaces: settings.sharedNamespace,
      resourceKinds: settings.resourceKind.map(objectTypeOf),
    },
  };
  countPolicies(cluster, metrics);
  const admission = await startAdmission(settings, sources, { log, metrics, witness }, limits);
  if (!settings.manageWebhooks) return admission;
  const { caPem } = admission;
  if (caPem === undefined) {
    throw new StartError(
      'the authority of the serving certificate is not known: put ca.crt into the --certs-dir, or run with --manage-webhooks=false',
    );
  }
  const servicePort = settings.servicePort === 0 ? admission.port : settings.servicePort;
  const keeper = keepConfigurations({ ...settings, servicePort }, caPem, context);
  return {
    url: admission.url,
    stop: async (graceMs, signal) => {
      // Who leaves tells its clients at once, also while the Lease cannot be given back.
      await Promise.all([keeper.stop(), admission.stop(graceMs, signal)]);
    },
  };
}

function countPolicies(cluster: LiveCluster, metrics: AdmissionMetrics): void {
  const count = (): void => {
    const { NamespacePolicy: policies, SecretShare: shares } = cluster.ownerCounts();
    metrics.setPolicies({
      loaded: policies.loaded + shares.loaded,
      stale: policies['last-good'] + shares['last-good'],
      refused: policies.refused + shares.refused,
    });
  };
  count();
  cluster.subscribe((change) => {
    if (change.kind === 'owner') count();
  });
}
