// Measures work as spans, knows which span the calling code belongs to, and sends spans to a collector.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { KubeError, errorCode } from '../base/kube-error.ts';
import { isAborted, pause } from '../base/abort.ts';
import type { MetricsRegistry } from './registry.ts';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** The types are simple, so that no Kubernetes object can get into a span. Numbers are whole. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

interface SpanStart {
  readonly name: string;
  /** `server`: answers a request. `client`: sends one. https://opentelemetry.io/docs/specs/otel/trace/api/#spankind */
  readonly kind: 'internal' | 'server' | 'client';
  /** Undefined begins a trace, and this trace is recorded. */
  readonly parent: SpanContext | undefined;
  readonly attributes?: Attributes;
}

export interface Span extends SpanContext {
  readonly start: SpanStart;
  /** `error.type` means an error of the work. */
  attributes: Attributes;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  endMs?: number;
  /** Added to the monotonic time, this gives a date. The date alone has no fractions, and may be set back. */
  readonly offsetMs: number;
}

export class Tracer {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #ended: (span: Span) => void;
  readonly #spans = new AsyncLocalStorage<Span>();

  /** `ended` receives each sampled span. */
  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, ended: (span: Span) => void) {
    this.#clock = clock;
    this.#ended = ended;
  }

  /** The span of the calling code. Undefined once the span has ended, because a loop that the work started may live longer. */
  get current(): Span | undefined {
    const span = this.#spans.getStore();
    return span?.endMs === undefined ? span : undefined;
  }

  /** Adds to the current span. Without a current span, does nothing. */
  describe(attributes: Attributes): void {
    const { current } = this;
    if (current !== undefined) current.attributes = { ...current.attributes, ...attributes };
  }

  /** Runs the work in a span that ends with it. */
  async trace<T>(start: SpanStart, work: () => Promise<T>): Promise<T> {
    const span = this.#begin(start);
    return await this.#spans.run(span, async () => {
      try {
        return await work();
      } catch (error) {
        this.describe(errorAttributes(error));
        throw error;
      } finally {
        span.endMs = span.offsetMs + this.#clock.monotonic();
        if (span.isSampled) this.#ended(span);
      }
    });
  }

  #begin(start: SpanStart): Span {
    const { parent, attributes = {} } = start;
    const monotonic = this.#clock.monotonic();
    const { current } = this;
    const offsetMs =
      parent !== undefined && parent === current ? current.offsetMs : this.#clock.now().getTime() - monotonic;
    return {
      start,
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      isSampled: parent?.isSampled ?? true,
      attributes,
      startMs: offsetMs + monotonic,
      offsetMs,
    };
  }
}

/** Names the class or the reason of an error. Its message could quote the request. */
function errorAttributes(error: unknown): Attributes {
  if (error instanceof KubeError)
    return { 'error.type': error.reason, 'http.response.status_code': error.code };
  return { 'error.type': error instanceof Error ? error.name : 'unknown' };
}

// Reads and writes the header `traceparent`. https://www.w3.org/TR/trace-context/#traceparent-header

/** Names a span of this process, or of the process that called it. */
interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  /** False if the process that began the trace decided not to record it. */
  readonly isSampled: boolean;
}

/** Ids of zeros are not valid. Only later versions may have more fields. */
const pattern =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|(?<!^00.*)-.)/;

/** Returns undefined for a missing or invalid header. Then a new trace begins. */
export function parseTraceparent(header: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags = ''] = (typeof header === 'string' && pattern.exec(header)) || [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

// Sends spans in batches. A span never delays the work that it describes: when too many spans wait, the rest is dropped.

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

interface TraceExporterPorts {
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
