// Joins the role "webhook": policies and namespaces from files, admission over HTTPS, certificates, log, metrics, probes.
import { ByteBudget } from '../admission/byte-budget.ts';
import { drain } from '../admission/drain.ts';
import type { AccessReviewer, Clock, NamespaceFinder } from '../admission/ports.ts';
import { serverLimits, type ServerLimits } from '../admission/server-limits.ts';
import { webhookApp } from '../admission/webhook-app.ts';
import { webhookHandler, type HandlerPorts } from '../admission/webhook-handler.ts';
import { WebhookServer, type TlsPair } from '../admission/webhook-server.ts';
import { mastersGroup } from '../api/names.ts';
import type { Log } from '../observe/log.ts';
import { AdmissionMetrics } from '../observe/metrics.ts';
import { createProbes } from '../observe/probes.ts';
import type { ClusterSnapshot } from '../policy/snapshot.ts';
import { admissionObserver } from './admission-observer.ts';
import { listen, urlOf } from './listen.ts';
import { loadCluster, type ClusterSettings, type LoadedCluster } from './load-cluster.ts';
import { openServingPair, type PairSettings } from './serving-pair.ts';

export interface WebhookSettings extends ClusterSettings, PairSettings {
  readonly host: string;
  readonly port: number;
  readonly probesPort: number;
  /** In milliseconds. */
  readonly evaluationBudget: number;
}

export interface RunningWebhook {
  readonly url: string;
  readonly probesUrl: string;
  readonly cluster: LoadedCluster;
  /** Serves for the grace still, turning clients away, and lets those in flight finish; the signal ends it at once. */
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

/** Rejects with a StartError or an UnreadablePathError, whose texts are for the operator. */
export async function startWebhook(
  settings: WebhookSettings,
  log: Log,
  limits: ServerLimits = serverLimits,
): Promise<RunningWebhook> {
  const state: { snapshot: ClusterSnapshot | undefined; isLeaving: boolean } = {
    snapshot: undefined,
    isLeaving: false,
  };
  const metrics = new AdmissionMetrics();
  const pairs = await openServingPair(settings, log);
  const ports: HandlerPorts = {
    snapshot: () => state.snapshot,
    namespaces: nobodyElseKnows,
    access: mastersOnly,
    clock: systemClock,
    evaluationMs: settings.evaluationBudget,
    observer: admissionObserver(log, metrics),
  };
  const webhook = webhookOf(pairs.pair, ports, limits);
  pairs.watch((pair) => webhook.usePair(pair));
  const probes = createProbes({ isReady: () => state.snapshot !== undefined && !state.isLeaving, metrics });
  const probesPort = await listen(probes, settings.probesPort, settings.host);
  const port = await listen(webhook.server, settings.port, settings.host);
  // Whoever calls before this is done is told to come again.
  const cluster = await loadCluster(settings);
  metrics.setPolicies(cluster.loaded, cluster.refused);
  state.snapshot = cluster.snapshot;
  return {
    url: urlOf('https', settings.host, port),
    probesUrl: urlOf('http', settings.host, probesPort),
    cluster,
    stop: async (graceMs, signal) => {
      state.isLeaving = true;
      await drain(webhook, graceMs, limits, signal);
      pairs.close();
      probes.close();
      probes.closeAllConnections();
    },
  };
}

function webhookOf(pair: TlsPair, ports: HandlerPorts, limits: ServerLimits): WebhookServer {
  const bytes = new ByteBudget(limits.totalBodyBytes);
  const handlers = {
    validate: webhookHandler('validate', ports, limits, bytes),
    mutate: webhookHandler('mutate', ports, limits, bytes),
  };
  return new WebhookServer(pair, webhookApp(handlers, ports.observer), limits, ports.observer);
}

/** Without a cluster, the files say all there is to know of namespaces. */
const nobodyElseKnows: NamespaceFinder = { find: () => Promise.resolve(undefined) };

/** Without a cluster there is no RBAC to ask; the engine itself knows the requesters of a policy. */
const mastersOnly: AccessReviewer = {
  mayUse: ({ groups }) => Promise.resolve(groups.includes(mastersGroup) ? 'yes' : 'no'),
};

const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
};
