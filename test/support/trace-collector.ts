// A collector of traces on loopback: keeps the spans that it gets over OTLP/HTTP, or fails as a test says.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, string | boolean>>;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string; readonly boolValue?: boolean };
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes'> & {
        readonly attributes: readonly Attribute[];
      })[];
    }[];
  }[];
}

export class TraceCollector {
  /** The method, path and media type of each request. */
  readonly requests: string[] = [];
  /** All bodies as they came. */
  received = '';
  readonly spans: CollectedSpan[] = [];
  resource: CollectedSpan['attributes'] = {};
  /** `silent`: never answers. */
  answer: number | 'silent' = 200;
  readonly #server = createServer((request, response) => void this.#collect(request, response));

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  named(name: string): readonly CollectedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  childrenOf({ spanId }: CollectedSpan): readonly CollectedSpan[] {
    return this.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #collect(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    this.requests.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
    if (this.answer === 'silent') return;
    if (this.answer === 200) this.#keep(body);
    // https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
    response.writeHead(this.answer, { 'Content-Type': 'application/json' }).end('{}');
  }

  #keep(body: string): void {
    this.received += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as Body).resourceSpans) {
      this.resource = valuesOf(resource.attributes);
      for (const { spans } of scopeSpans) {
        this.spans.push(...spans.map((span) => ({ ...span, attributes: valuesOf(span.attributes) })));
      }
    }
  }
}

function valuesOf(attributes: readonly Attribute[]): CollectedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue ?? '']),
  );
}
