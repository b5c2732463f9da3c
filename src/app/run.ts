// Starts `reeve run`: one connection, one view of the cluster, and the roles of this process.
import type { Server } from 'node:http';
import { serverLimits } from '../admission/http/limits.ts';
import type { ApiServer } from '../kube/http/http-exchange.ts';
import { AdmissionMetrics } from '../observe/admission.ts';
import type { Log } from '../observe/log.ts';
import { countDroppedLines, MetricsRegistry } from '../observe/registry.ts';
import { createProbes } from '../observe/probes.ts';
import { installOf, type Install, type InstallFlags } from '../policy/terms/install.ts';
import { connect, type ClusterConnection } from './cluster-connection.ts';
import { namesOfKinds } from './served-kinds.ts';
import { watchCluster, type ClusterView } from './cluster-view.ts';
import { listen, urlOf } from './admission-server.ts';
import type { ReconcilerSettings } from './reconciler-role.ts';
import { Watches } from './watches.ts';
import type { WebhookRoleSettings } from './webhook-role.ts';
import type { ActivityObserver } from '../observe/activity.ts';
import { openTracing, type Tracing } from './tracing.ts';

export interface RunSettings extends InstallFlags, ReconcilerSettings, WebhookRoleSettings {
  readonly role: 'all' | 'webhook' | 'reconciler';
  readonly probesPort: number;
  readonly traceEndpoint: string | undefined;
}

export interface RunningProgram {
  /** Tells a person the cluster and the addresses of this process. */
  readonly description: string;
  /** Undefined for the role reconciler. */
  readonly webhookUrl: string | undefined;
  /** Serves /livez, /readyz and /metrics. */
  readonly probesUrl: string;
  /** Rejects with an error of the program itself. Then the process must end. */
  readonly failed: Promise<never>;
  /** Takes no new work, finishes the current work, releases the Leases and closes the connections, one after another. */
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

interface StartContext {
  readonly log: Log;
  readonly registry: MetricsRegistry;
  readonly tracing: Tracing;
  readonly activity: ActivityObserver;
  readonly starting: AbortSignal;
}

/** Stops one started part. The parts stop in reverse order of their start. */
type Ending = (graceMs: number, signal: AbortSignal) => Promise<void> | void;

interface StartOptions {
  readonly activity?: ActivityObserver;
  /** Aborts a start that waits. */
  readonly starting?: AbortSignal;
}

/**
 * `findServer` may reject with a CredentialError. Rejects with a StartError, or with the reason of the signal.
 */
export async function startProgram(
  settings: RunSettings,
  findServer: () => Promise<ApiServer>,
  log: Log,
  { activity = {}, starting = new AbortController().signal }: StartOptions = {},
): Promise<RunningProgram> {
  const endings: Ending[] = [];
  const stop = async (graceMs: number, signal: AbortSignal): Promise<void> => {
    for (const end of endings.splice(0).toReversed()) await end(graceMs, signal);
  };
  try {
    const registry = new MetricsRegistry();
    countDroppedLines(registry, log);
    const tracing = await openTracing(settings.traceEndpoint, log, registry);
    endings.push((_graceMs, signal) => tracing.close(signal));
    const context = { log, registry, tracing, activity, starting };
    const started = await startParts(settings, findServer, context, endings);
    return { ...started, stop };
  } catch (error) {
    await stop(0, AbortSignal.abort());
    throw error;
  }
}

async function startParts(
  settings: RunSettings,
  findServer: () => Promise<ApiServer>,
  { log, registry, tracing, activity, starting }: StartContext,
  endings: Ending[],
): Promise<Omit<RunningProgram, 'stop'>> {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  // The caller awaits this promise later. Until then, a rejection must not count as unhandled.
  failed.catch(() => undefined);
  const connection = await connect(findServer, settings.concurrency, registry, tracing);
  endings.push(() => connection.client.close());
  const watches = new Watches(connection.client, log, registry, fail);
  endings.push(() => watches.stop());
  const install = installIn(settings, connection);
  const view = watchCluster(install, watches, { connection, log, fail });
  endings.push(() => view.stop());
  const state = { isRunning: false, isTrustworthy: () => true };
  const probes = createProbes({
    isReady: () => state.isRunning && isReady(settings, view, watches) && state.isTrustworthy(),
    metrics: registry,
  });
  const probesUrl = await openProbes(probes, settings, endings);
  const context = { ...view, connection, install, watches, log, registry, tracing, activity, fail };
  let webhookUrl: string | undefined;
  if (settings.role !== 'webhook') {
    // A process that also answers reviews must stay ready when a watch of the reconciler is forbidden.
    const starter = settings.role === 'all' ? watches.asOptional : watches;
    const { startReconciler } = await import('./reconciler-role.ts');
    const reconciler = startReconciler(settings, { ...context, watches: starter });
    endings.push(() => reconciler.stop());
  }
  if (settings.role !== 'reconciler') {
    const answering = { ...context, metrics: new AdmissionMetrics(registry), limits: serverLimits };
    const waiting = AbortSignal.any([starting, abortedBy(failed)]);
    const { startWebhookRole } = await import('./webhook-role.ts');
    const webhook = await startWebhookRole(settings, answering, waiting);
    webhookUrl = webhook.url;
    state.isTrustworthy = webhook.isTrustworthy;
    endings.push((graceMs, signal) => webhook.stop(graceMs, signal));
  }
  state.isRunning = true;
  endings.push(() => {
    state.isRunning = false;
  });
  const reviews = webhookUrl === undefined ? '' : `reviews on ${webhookUrl}, `;
  const description = `role ${settings.role} on ${connection.description}; ${reviews}probes on ${probesUrl}`;
  return { description, webhookUrl, probesUrl, failed };
}

/** The API server knows the resource names of kinds. */
function installIn(settings: RunSettings, { discovery }: ClusterConnection): Install {
  const install = installOf(settings);
  return { ...install, resourceOf: namesOfKinds(install.resourceKinds ?? [], discovery) };
}

async function openProbes(
  probes: Server,
  { probesPort, host }: RunSettings,
  endings: Ending[],
): Promise<string> {
  const port = await listen(probes, probesPort, host);
  endings.push(() => {
    probes.close();
    probes.closeAllConnections();
  });
  return urlOf('http', host, port);
}

/**
 * A webhook stays ready while its watches stall: it decides by its last state, and an unreachable API server sends no reviews.
 * A reconciler with stalled watches has too little knowledge to work.
 */
function isReady({ role }: RunSettings, { cluster }: ClusterView, watches: Watches): boolean {
  if (!cluster.isSynced) return false;
  return role === 'reconciler' ? watches.isHealthy : watches.isSynced;
}

/** Without this signal, the wait for a certificate would hide an error of another part. */
function abortedBy(failed: Promise<never>): AbortSignal {
  const ending = new AbortController();
  failed.catch((error: unknown) => ending.abort(error));
  return ending.signal;
}
