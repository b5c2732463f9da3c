// Sends spans to a collector as the JSON of OTLP over HTTP. https://opentelemetry.io/docs/specs/otlp/#otlphttp
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Attributes, Span } from './tracer.ts';

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

/** As text, because nanoseconds since 1970 exceed the integers of JSON. Microseconds do not. */
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
