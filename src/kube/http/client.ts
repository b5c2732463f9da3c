// The interface of a client of the API server: one request with a JSON answer, or an answer as a stream.
import type { JsonObject } from '../../base/json.ts';

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root of the API server: `/api/v1/namespaces/x`. Names in it are already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** `application/json` unless given. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Names the span that the request belongs to. https://www.w3.org/TR/trace-context/ */
  readonly traceparent?: string;
  readonly signal?: AbortSignal;
  /** The limit for the complete answer. For a stream, the limit for the head of the answer. */
  readonly timeoutMs?: number;
}

export interface KubeClient {
  /** Rejects with a KubeError. */
  request(request: KubeRequest): Promise<JsonObject>;
  /** Yields the bytes of a successful answer until the server ends it. Rejects and throws with a KubeError. */
  stream(request: KubeRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Closes all connections. */
  close(): void;
}
