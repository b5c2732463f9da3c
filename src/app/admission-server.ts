// Joins what answers reviews: the HTTPS server, its certificates, log and metrics; where policies come from is not its matter.
import { ByteBudget } from '../admission/http/byte-budget.ts';
import { webhookApp } from '../admission/http/webhook-app.ts';
import { webhookHandler, type HandlerPorts } from '../admission/handler.ts';
import { WebhookServer, type TlsPair, drain } from '../admission/http/webhook-server.ts';
import type { ServerLimits } from '../admission/http/server-limits.ts';
import type { Log } from '../observe/log.ts';
import type { AdmissionMetrics } from '../observe/admission-metrics.ts';
import { admissionObserver } from './observers.ts';
import { listen, urlOf } from './listen.ts';
import type { PairSource } from '../certs/pair-source.ts';
import { systemClock } from '../base/clock.ts';
import type { ActivityObserver } from './observers.ts';

export interface AdmissionSettings {
  readonly host: string;
  readonly port: number;
  /** In milliseconds. */
  readonly evaluationBudget: number;
}

/** What the server asks of the rest of the program. */
export type AdmissionSources = Omit<HandlerPorts, 'clock' | 'evaluationMs' | 'observer'>;

export interface RunningAdmission {
  readonly url: string;
  readonly port: number;
  /** Not once its certificate has expired: others may have a better one. */
  readonly isTrustworthy: () => boolean;
  /** Serves for the grace still, turning clients away, and lets those in flight finish; the signal ends it at once. */
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

export interface AdmissionObservers {
  readonly log: Log;
  readonly metrics: AdmissionMetrics;
  readonly activity: ActivityObserver;
}

/** Closes the source of its pairs when it ends. Rejects with a StartError, whose text is for the operator. */
// oxlint-disable-next-line max-params -- what it is told to do, the three things it works with, and its bounds
export async function startAdmission(
  settings: AdmissionSettings,
  pairs: PairSource,
  sources: AdmissionSources,
  { log, metrics, activity }: AdmissionObservers,
  limits: ServerLimits,
): Promise<RunningAdmission> {
  const ports: HandlerPorts = {
    ...sources,
    clock: systemClock,
    evaluationMs: settings.evaluationBudget,
    observer: admissionObserver(log, metrics, activity),
  };
  let { pair } = pairs;
  const webhook = serverOf(pair, ports, limits);
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

function serverOf(pair: TlsPair, ports: HandlerPorts, limits: ServerLimits): WebhookServer {
  const bytes = new ByteBudget(limits.totalBodyBytes);
  const handlers = {
    validate: webhookHandler('validate', ports, limits, bytes),
    mutate: webhookHandler('mutate', ports, limits, bytes),
  };
  return new WebhookServer(pair, webhookApp(handlers, ports.observer), limits, ports.observer);
}
