// Starts `reeve serve`: the webhook without a cluster, with policies, shares and namespaces from files.
import type { AccessReviewer, NamespaceFinder } from '../admission/ports.ts';
import { serverLimits, type ServerLimits } from '../admission/http/limits.ts';
import { mastersGroup } from '../schema/names.ts';
import type { Log } from '../observe/log.ts';
import { AdmissionMetrics } from '../observe/admission.ts';
import { CertificateMetrics, certificateObserver } from '../observe/certificates.ts';
import { MetricsRegistry, countDroppedLines } from '../observe/registry.ts';
import { createProbes } from '../observe/probes.ts';
import { installOf, type InstallFlags } from '../policy/terms/install.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import { startAdmission, type AdmissionSettings, listen, urlOf } from './admission-server.ts';
import { makePair, openGivenPair, type PairSettings } from '../certs/files/pair-files.ts';
import { loadCluster, type ClusterSettings, type LoadedCluster } from '../state/file-cluster.ts';
import { openTracing } from './tracing.ts';

interface WebhookSettings
  extends
    ClusterSettings,
    Pick<InstallFlags, 'namespace' | 'sharedNamespace' | 'excludeNamespace'>,
    AdmissionSettings,
    PairSettings {
  readonly probesPort: number;
  readonly traceEndpoint: string | undefined;
}

export interface RunningWebhook {
  readonly url: string;
  readonly probesUrl: string;
  readonly cluster: LoadedCluster;
  /** Serves during the grace period, closes connections, and lets requests finish; the signal ends it at once. */
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

/** Rejects with a StartError or an UnreadablePathError. */
export async function startWebhook(
  settings: WebhookSettings,
  log: Log,
  limits: ServerLimits = serverLimits,
): Promise<RunningWebhook> {
  const state: { snapshot: ClusterSnapshot | undefined; isReady: () => boolean } = {
    snapshot: undefined,
    isReady: () => false,
  };
  const { namespace, sharedNamespace, excludeNamespace } = settings;
  const registry = new MetricsRegistry();
  const metrics = new AdmissionMetrics(registry);
  countDroppedLines(registry, log);
  const probes = createProbes({ isReady: () => state.isReady(), metrics: registry });
  const probesPort = await listen(probes, settings.probesPort, settings.host);
  // Files do not say which kinds and Secrets the reconciler may create.
  const install = installOf({ namespace, sharedNamespace, excludeNamespace });
  const sources = {
    snapshot: () => state.snapshot,
    namespaces: nobodyElseKnows,
    access: mastersOnly,
    install,
  };
  const observer = certificateObserver(log, new CertificateMetrics(registry));
  const pairs = (await openGivenPair(settings, observer)) ?? (await makePair(settings.namespace, observer));
  const tracing = await openTracing(settings.traceEndpoint, log, registry);
  const observers = { log, metrics, activity: {}, tracing };
  const admission = await startAdmission(settings, pairs, sources, observers, limits);
  // Reviews before this line get 503 with Retry-After.
  const cluster = await loadCluster(settings, install);
  metrics.setPolicies({ loaded: cluster.loaded, stale: 0, refused: cluster.refused });
  state.snapshot = cluster.snapshot;
  state.isReady = admission.isTrustworthy;
  return {
    url: admission.url,
    probesUrl: urlOf('http', settings.host, probesPort),
    cluster,
    stop: async (graceMs, signal) => {
      state.isReady = () => false;
      await admission.stop(graceMs, signal);
      probes.close();
      probes.closeAllConnections();
      await tracing.close(signal);
    },
  };
}

/** Without a cluster, only the files know namespaces. */
const nobodyElseKnows: NamespaceFinder = { find: () => Promise.resolve(undefined) };

/** Without a cluster there is no RBAC, so only system:masters has rights. */
const mastersOnly: AccessReviewer = {
  mayDo: ({ groups }) => Promise.resolve(groups.includes(mastersGroup) ? 'yes' : 'no'),
};
