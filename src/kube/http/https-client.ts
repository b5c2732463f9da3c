// The client of the API server: sends and reads JSON unchanged, and reports every error as a KubeError.
import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { abortable } from '../../base/abort.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { ApiServer, Credentials } from '../auth/credentials.ts';
import { kubeErrorOfAnswer } from './answers.ts';
import type { KubeClient, KubeRequest } from './client.ts';
import { ConnectionPool } from './connection-pool.ts';
import { chunksOf, exchange, readAnswerBody, type UsedSockets } from './http-exchange.ts';
import { RequestLimits, onceAdmitted } from './request-limits.ts';

export interface KubeClientOptions {
  /** How many requests run at the same time, without streams; 64 by default. */
  readonly maxConnections?: number;
  /** For requests without a timeout of their own; 30 s by default. */
  readonly timeoutMs?: number;
  /** Longer answers are refused; 64 MiB by default. */
  readonly maxAnswerBytes?: number;
  readonly userAgent?: string;
  /** For the wait after a 429. */
  readonly clock?: Pick<Clock, 'random' | 'sleep'>;
  /** Called for each answer that requires another try: with other credentials, or later. */
  onRefused?(code: 401 | 429): void;
}

const mebibyte = 1024 * 1024;
const maxErrorBytes = mebibyte;
const applyPatch = 'application/apply-patch+yaml';

export function createKubeClient(apiServer: ApiServer, options: KubeClientOptions = {}): KubeClient {
  return new HttpsKubeClient(apiServer, options);
}

class HttpsKubeClient implements KubeClient {
  readonly #apiServer: ApiServer;
  readonly #options: Required<KubeClientOptions>;
  readonly #pool: ConnectionPool;
  readonly #used: UsedSockets = new WeakSet();
  #isClosed = false;

  constructor(apiServer: ApiServer, options: KubeClientOptions) {
    this.#apiServer = apiServer;
    this.#options = {
      maxConnections: 64,
      timeoutMs: 30_000,
      maxAnswerBytes: 64 * mebibyte,
      userAgent: 'reeve',
      clock: systemClock,
      onRefused: () => undefined,
      ...options,
    };
    this.#pool = new ConnectionPool(this.#options.maxConnections);
  }

  async request(request: KubeRequest): Promise<JsonObject> {
    const limits = new RequestLimits(request.signal, request.timeoutMs ?? this.#options.timeoutMs);
    try {
      const send = (): Promise<IncomingMessage> => this.#succeed(request, limits.signal);
      const response = await onceAdmitted(send, limits, this.#options.clock);
      return objectIn(await readAnswerBody(response, this.#options.maxAnswerBytes), response);
    } catch (error) {
      this.#judgeConnections(limits);
      limits.signal.throwIfAborted();
      throw error;
    } finally {
      limits.end();
    }
  }

  async stream(request: KubeRequest): Promise<AsyncIterable<Uint8Array>> {
    const limits = new RequestLimits(request.signal, request.timeoutMs ?? this.#options.timeoutMs);
    const end = (): void => {
      limits.end();
      this.#pool.removeStream();
    };
    this.#pool.addStream();
    try {
      const response = await this.#succeed(request, limits.signal);
      limits.removeTimeout();
      response.once('close', end);
      return chunksOf(response, limits.signal);
    } catch (error) {
      end();
      this.#judgeConnections(limits);
      limits.signal.throwIfAborted();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#pool.close();
  }

  /** A timeout may mean that a gateway silently dropped all its connections, so idle ones are not used again. */
  #judgeConnections({ isTimedOut }: RequestLimits): void {
    if (isTimedOut) this.#pool.dropIdle();
  }

  /** Credentials may have been replaced since they were read, so after a 401 the request is repeated with new ones. */
  async #succeed(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const credentials = await abortable(this.#credentials(), signal);
    const response = await this.#send(request, credentials, signal);
    if (isSuccess(response)) return response;
    const error = await this.#errorIn(response, request);
    if (error.code !== 401) throw error;
    const renewed = await abortable(this.#renewed(credentials), signal);
    if (renewed === credentials) throw error;
    const second = await this.#send(request, renewed, signal);
    if (isSuccess(second)) return second;
    throw await this.#errorIn(second, request);
  }

  async #errorIn(response: IncomingMessage, { path }: KubeRequest): Promise<KubeError> {
    const error = await errorIn(response, path);
    const { code } = error;
    if (code === 401 || code === 429) this.#options.onRefused(code);
    return error;
  }

  /** The server may close an idle connection while a request is sent on it. Each such try uses up one connection. */
  async #send(request: KubeRequest, credentials: Credentials, signal: AbortSignal): Promise<IncomingMessage> {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    for (;;) {
      if (this.#isClosed) throw new KubeError({ code: 0, reason: 'ClientClosed', retryable: false });
      const options = this.#requestOptions(request, credentials, body);
      const result = await exchange(options, body, this.#used, signal);
      if (result.kind === 'answer') return result.response;
      if (!isRepeatable(request)) throw result.error;
    }
  }

  #requestOptions(request: KubeRequest, credentials: Credentials, body: string | undefined): RequestOptions {
    const { server } = this.#apiServer;
    const query = new URLSearchParams(request.query).toString();
    const root = server.pathname.replace(/\/+$/, '');
    const content =
      body === undefined
        ? {}
        : {
            'Content-Type': request.contentType ?? 'application/json',
            'Content-Length': Buffer.byteLength(body),
          };
    return {
      agent: this.#pool.agentFor(credentials.tls),
      protocol: server.protocol,
      // Node expects an IPv6 address without the brackets that a URL requires.
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port === '' ? 443 : server.port,
      method: request.method,
      path: `${root}${request.path}${query === '' ? '' : `?${query}`}`,
      headers: {
        Accept: request.accept ?? 'application/json',
        'User-Agent': this.#options.userAgent,
        ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent }),
        ...content,
        ...credentials.headers,
      },
    };
  }

  async #credentials(): Promise<Credentials> {
    try {
      return await this.#apiServer.authorize();
    } catch (cause) {
      throw Object.assign(new KubeError({ code: 0, reason: 'NoCredentials', retryable: true }), { cause });
    }
  }

  /** Returns the old credentials when there are no new ones, so that the caller sees the 401. */
  async #renewed(refused: Credentials): Promise<Credentials> {
    return await this.#apiServer.renew(refused).catch(() => refused);
  }
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Sending these requests twice has the same effect as sending them once. */
function isRepeatable({ method, contentType }: KubeRequest): boolean {
  return method === 'GET' || (method === 'PATCH' && contentType === applyPatch);
}

async function errorIn(response: IncomingMessage, path: string): Promise<KubeError> {
  const body = await readAnswerBody(response, maxErrorBytes);
  const { statusCode = 0, headers } = response;
  return kubeErrorOfAnswer(statusCode, headers, body ?? Buffer.of(), path.includes('/secrets'));
}

function objectIn(
  body: Buffer<ArrayBuffer> | undefined,
  { statusCode: code = 0 }: IncomingMessage,
): JsonObject {
  if (body === undefined) throw new KubeError({ code, reason: 'AnswerTooLong', retryable: false });
  const value = parsed(body);
  if (isJsonObject(value)) return value;
  throw new KubeError({ code, reason: 'MalformedAnswer', retryable: true });
}

/** JSON.parse makes every key an own member, `__proto__` too. https://tc39.es/ecma262/#sec-json.parse */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
