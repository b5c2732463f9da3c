// Wraps the parts of the program that a trace shows. Without a collector, nothing is wrapped and no tracing code is loaded.
import type { HttpHandler } from '../admission/handler.ts';
import type { KubeClient } from '../kube/http/client.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import type { ReconcilerOptions } from '../reconcile/controller.ts';
import type { ActivityObserver } from '../observe/activity.ts';

export interface Tracing {
  /** A span for each review. */
  handler(handler: HttpHandler): HttpHandler;
  /** Adds the decision to the span of its review. */
  activity(activity: ActivityObserver): ActivityObserver;
  /** A span for each request to the API server that belongs to a review or a reconcile. */
  client(client: KubeClient): KubeClient;
  /** A span for each attempt of a reconcile. */
  readonly queue: NonNullable<ReconcilerOptions['traced']>;
  /** Sends the last spans within a bounded time. The signal ends it at once. */
  close(signal: AbortSignal): Promise<void>;
}

export const noTracing: Tracing = {
  handler: (handler) => handler,
  activity: (activity) => activity,
  client: (client) => client,
  queue: (_queue, handler) => handler,
  close: () => Promise.resolve(),
};

export async function openTracing(
  endpoint: string | undefined,
  log: Log,
  registry: MetricsRegistry,
): Promise<Tracing> {
  if (endpoint === undefined) return noTracing;
  const { startTracing } = await import('./started-tracing.ts');
  return startTracing(endpoint, log, registry);
}
