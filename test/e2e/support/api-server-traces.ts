// Takes the spans that an API server sends over OTLP/gRPC, and finds their links, without reading the rest of their protobuf.
import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** An empty answer: not compressed, and no bytes. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
const emptyMessage = Buffer.alloc(5);

export class ApiServerTraces {
  #received = Buffer.alloc(0);
  readonly #server = createServer();

  static async start(): Promise<ApiServerTraces> {
    const traces = new ApiServerTraces();
    traces.#server.on('stream', (stream: ServerHttp2Stream) => void traces.#take(stream));
    traces.#server.listen(0, '127.0.0.1');
    await once(traces.#server, 'listening');
    return traces;
  }

  /** The configuration of an API server that traces every request. */
  get configuration(): string {
    const { port } = this.#server.address() as AddressInfo;
    return [
      'apiVersion: apiserver.config.k8s.io/v1beta1',
      'kind: TracingConfiguration',
      `endpoint: 127.0.0.1:${port}`,
      'samplingRatePerMillion: 1000000',
      '',
    ].join('\n');
  }

  /**
   * Returns whether a span of the API server has a link to this span: field 1 of a link is the trace, field 2 the span.
   * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
   */
  linksTo({ traceId, spanId }: SpanIds): boolean {
    return this.#received.includes(Buffer.from(`0a10${traceId}1208${spanId}`, 'hex'));
  }

  close(): void {
    this.#server.close();
  }

  async #take(stream: ServerHttp2Stream): Promise<void> {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    this.#received = Buffer.concat([this.#received, await buffer(stream)]);
    stream.end(emptyMessage);
  }
}
