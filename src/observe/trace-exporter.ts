// Sends spans in batches. A span never delays the work that it describes: when too many spans wait, the rest is dropped.
import { isAborted, pause } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/kube-error.ts';
import type { MetricsRegistry } from './registry.ts';
import type { Span, Attributes } from './tracer.ts';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export class TraceMetrics {
  readonly spans;

  constructor(registry: MetricsRegistry) {
    this.spans = registry.counter(
      'reeve_trace_spans_total',
      'With --trace-endpoint: spans sent, failed (the collector did not accept them), or dropped (too many waited).',
      ['result'],
    );
    for (const result of ['sent', 'failed', 'dropped']) this.spans.inc({ result }, 0);
  }
}

export interface TraceExporterPorts {
  /** Rejects when the collector does not accept the spans. */
  readonly send: (spans: readonly Span[], signal: AbortSignal) => Promise<void>;
  readonly metrics: TraceMetrics;
  /** Called when sending begins to fail. */
  readonly failing: (reason: string) => void;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Some megabytes of spans at most. */
const maxQueued = 4096;
const maxBatch = 512;
const intervalMs = 1000;
const sendMs = 10_000;
const flushMs = 2000;

export class TraceExporter {
  readonly #ports: TraceExporterPorts;
  readonly #closing = new AbortController();
  readonly #queue: Span[] = [];
  readonly #ended: Promise<void>;
  #isFailing = false;

  constructor(ports: TraceExporterPorts) {
    this.#ports = ports;
    this.#ended = this.#run();
  }

  add(span: Span): void {
    if (this.#queue.length < maxQueued) this.#queue.push(span);
    else this.#ports.metrics.spans.inc({ result: 'dropped' });
  }

  /** Sends the waiting spans within two seconds. The signal ends this at once. */
  async close(signal: AbortSignal): Promise<void> {
    this.#closing.abort();
    await Promise.race([this.#ended, pause(this.#ports.clock, flushMs, signal)]);
  }

  /** After an error, the other spans wait for the next interval, so that a broken collector gets one request a second. */
  async #run(): Promise<void> {
    do {
      await pause(this.#ports.clock, intervalMs, this.#closing.signal);
      while (this.#queue.length > 0) if (!(await this.#send(this.#queue.splice(0, maxBatch)))) break;
    } while (!isAborted(this.#closing.signal));
  }

  async #send(batch: readonly Span[]): Promise<boolean> {
    const { send, metrics, failing } = this.#ports;
    const reason = await send(batch, AbortSignal.timeout(sendMs)).then(
      () => undefined,
      (error: unknown) => errorCode(error) ?? 'Unknown',
    );
    const hasFailed = reason !== undefined;
    metrics.spans.inc({ result: hasFailed ? 'failed' : 'sent' }, batch.length);
    if (hasFailed && !this.#isFailing) failing(reason);
    this.#isFailing = hasFailed;
    return !hasFailed;
  }
}

// Sends spans to a collector as the JSON of OTLP over HTTP. https://opentelemetry.io/docs/specs/otlp/#otlphttp

/** Enumerations are numbers: https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto */
const kinds = { internal: 1, server: 2, client: 3 } as const;
const failed = { code: 2 } as const;

/** `resource` names the process that sends the spans. */
export function otlpBody(resource: Attributes, spans: readonly Span[]): string {
  const scopeSpans = [{ scope: { name: 'reeve' }, spans: spans.map(otlpSpan) }];
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: otlpAttributes(resource) }, scopeSpans }],
  });
}

function otlpSpan({ traceId, spanId, start, attributes, startMs, endMs = startMs }: Span): object {
  return {
    traceId,
    spanId,
    parentSpanId: start.parent?.spanId,
    name: start.name,
    kind: kinds[start.kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: otlpAttributes(attributes),
    status: Object.hasOwn(attributes, 'error.type') ? failed : {},
  };
}

/** Returns a text, because nanoseconds since 1970 exceed the integers of JSON, unlike microseconds. */
function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)}000`;
}

function otlpAttributes(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) }));
}

function otlpValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(value) };
}

/** `endpoint`: the address of the collector, such as `http://collector:4318`. Rejects with a `code` that may be logged. */
export function otlpSender(endpoint: string): (body: string, signal: AbortSignal) => Promise<void> {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const isSecure = url.startsWith('https:');
  const request = isSecure ? httpsRequest : httpRequest;
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true });
  return async (body, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const call = request(url, { method: 'POST', agent, headers, signal }, (response) => {
      const { statusCode: code = 0 } = response;
      if (code < 200 || code > 299) reject(Object.assign(new Error('refused'), { code: `HTTP ${code}` }));
      response.on('error', reject).on('end', resolve).resume();
    });
    call.on('error', reject).end(body);
    await promise;
  };
}
