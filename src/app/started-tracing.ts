// Traces with a collector: decides which work becomes a span, and what a span says. Loaded only with --trace-endpoint.
import { hostname } from 'node:os';
import type { DecisionRecord } from '../admission/ports.ts';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../observe/log.ts';
import {
  otlpBody,
  otlpSender,
  TraceExporter,
  TraceMetrics,
  parseTraceparent,
  traceparentOf,
  Tracer,
  type Attributes,
} from '../observe/tracer.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import { readProgramVersion } from './shipped-files.ts';
import type { Tracing } from './tracing.ts';

export function startTracing(endpoint: string, log: Log, registry: MetricsRegistry): Tracing {
  // https://opentelemetry.io/docs/specs/semconv/resource/service/
  const resource = {
    'service.name': 'reeve',
    'service.version': readProgramVersion(),
    'service.instance.id': hostname(),
  };
  const post = otlpSender(endpoint);
  const exporter = new TraceExporter({
    send: (spans, signal) => post(otlpBody(resource, spans), signal),
    metrics: new TraceMetrics(registry),
    failing: (reason) => log.warn('traces not sent', { reason }),
    clock: systemClock,
  });
  const tracer = new Tracer(systemClock, (span) => exporter.add(span));
  return { ...tracedParts(tracer), close: (signal) => exporter.close(signal) };
}

export function tracedParts(tracer: Tracer): Omit<Tracing, 'close'> {
  return {
    handler: (handler) => async (request, response) => {
      const parent = parseTraceparent(request.headers['traceparent']);
      await tracer.trace({ name: 'review', kind: 'server', parent }, async () => {
        await handler(request, response);
        tracer.describe({ 'http.response.status_code': response.statusCode });
      });
    },
    activity: (activity) => ({
      ...activity,
      decided: (record) => {
        tracer.describe(decisionAttributes(record));
        activity.decided?.(record);
      },
    }),
    // Lists, watches and renewals of a Lease belong to no span, and get none.
    client: (client) => ({
      request: async (request) => {
        const parent = tracer.current;
        if (parent === undefined) return await client.request(request);
        // https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client
        const attributes = { 'http.request.method': request.method, 'url.path': request.path };
        return await tracer.trace({ name: request.method, kind: 'client', parent, attributes }, () =>
          client.request({ ...request, traceparent: traceparentOf(tracer.current ?? parent) }),
        );
      },
      stream: (request) => client.stream(request),
      close: () => client.close(),
    }),
    // Each reconcile begins a trace, because the work that queued its key may have ended long ago.
    queue: (queue, handler) => async (key, attempt) => {
      const attributes = {
        'reeve.queue': queue,
        'reeve.key': String(key),
        'reeve.attempt': attempt.failures + 1,
      };
      const start = { name: `reconcile ${queue}`, kind: 'internal', parent: undefined, attributes } as const;
      return await tracer.trace(start, async () => {
        const handled = await handler(key, attempt);
        tracer.describe({ 'reeve.result': handled.kind });
        return handled;
      });
    },
  };
}

/** Names each field, so that no content of an object gets into a span. */
function decisionAttributes(record: DecisionRecord): Attributes {
  return {
    'reeve.endpoint': record.endpoint,
    'reeve.uid': record.uid,
    'reeve.operation': record.operation,
    'reeve.resource': record.resource,
    'reeve.namespace': record.namespace,
    'reeve.name': record.name,
    'reeve.dry_run': record.isDryRun,
    'reeve.decision': record.decision,
    'reeve.allowed': record.decision === 'allowed' || record.decision === 'mutated',
  };
}
