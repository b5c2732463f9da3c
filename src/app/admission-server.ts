// Starts the HTTPS server that answers reviews, with its certificates, log and metrics; callers bring the policies.
import { ByteBudget } from '../admission/http/exchange.ts';
import { webhookApp, WebhookServer, type TlsPair, drain } from '../admission/http/webhook-server.ts';
import { webhookHandler, type HandlerPorts } from '../admission/handler.ts';
import type { ServerLimits } from '../admission/http/limits.ts';
import type { Log } from '../observe/log.ts';
import { type AdmissionMetrics, admissionObserver } from '../observe/admission.ts';
import type { ActivityObserver } from '../observe/activity.ts';
import type { PairSource } from '../certs/ports.ts';
import { systemClock } from '../base/clock.ts';
import type { Tracing } from './tracing.ts';
import type { Server } from 'node:net';
import { errorCode } from '../base/kube-error.ts';
import { StartError } from '../base/start-error.ts';

export interface AdmissionSettings {
  readonly host: string;
  readonly port: number;
  /** The units of work of one review. */
  readonly evaluationBudget: number;
}

/** The policies, namespaces and access reviews that the server needs. */
type AdmissionSources = Omit<HandlerPorts, 'clock' | 'evaluationUnits' | 'observer'>;

export interface RunningAdmission {
  readonly url: string;
  readonly port: number;
  /** False once the certificate has expired, because another replica may have a valid one. */
  readonly isTrustworthy: () => boolean;
  /** Serves during the grace period, closes connections, and lets requests finish; the signal ends it at once. */
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

interface AdmissionObservers {
  readonly log: Log;
  readonly metrics: AdmissionMetrics;
  readonly activity: ActivityObserver;
  readonly tracing: Tracing;
}

/** Closes the pair source when it stops. Rejects with a StartError. */
// oxlint-disable-next-line max-params -- settings, three collaborators and limits
export async function startAdmission(
  settings: AdmissionSettings,
  pairs: PairSource,
  sources: AdmissionSources,
  { log, metrics, activity, tracing }: AdmissionObservers,
  limits: ServerLimits,
): Promise<RunningAdmission> {
  const ports: HandlerPorts = {
    ...sources,
    clock: systemClock,
    evaluationUnits: settings.evaluationBudget,
    observer: admissionObserver(log, metrics, tracing.activity(activity)),
  };
  let { pair } = pairs;
  const webhook = serverOf(pair, ports, limits, tracing);
  pairs.watch((next) => {
    pair = next;
    webhook.usePair(next);
  });
  const port = await listen(webhook.server, settings.port, settings.host).catch(async (error: unknown) => {
    await pairs.close();
    throw error;
  });
  return {
    url: urlOf('https', settings.host, port),
    port,
    isTrustworthy: () => pair.notAfter > systemClock.now(),
    stop: async (graceMs, signal) => {
      await drain(webhook, graceMs, limits, signal);
      await pairs.close();
    },
  };
}

function serverOf(pair: TlsPair, ports: HandlerPorts, limits: ServerLimits, tracing: Tracing): WebhookServer {
  const bytes = new ByteBudget(limits.totalBodyBytes);
  const handlers = {
    validate: tracing.handler(webhookHandler('validate', ports, limits, bytes)),
    mutate: tracing.handler(webhookHandler('mutate', ports, limits, bytes)),
  };
  return new WebhookServer(pair, webhookApp(handlers, ports.observer), limits, ports.observer);
}

// Opens the port of a server, and explains in one sentence why it cannot.

const reasons: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'another program listens there'],
  ['EACCES', 'this user may not open that port'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
  ['ENOTFOUND', 'no such address'],
]);

/** Returns the open port; for port 0 the system chooses one. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  function onError(error: Error): void {
    const code = errorCode(error) ?? 'unknown';
    reject(new StartError(`cannot listen on ${host}:${port}: ${reasons.get(code) ?? 'it failed'} (${code})`));
  }
  server.once('error', onError);
  server.listen({ port, host }, () => {
    server.off('error', onError);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : port);
  });
  return promise;
}

/** Puts an IPv6 address in brackets. */
export function urlOf(scheme: 'http' | 'https', host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
