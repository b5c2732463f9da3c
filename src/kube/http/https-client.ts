// Speaks to the API server: JSON as it is in both directions, and every failure as a KubeError.
import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { isJsonObject } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import { abortable } from '../../base/abortable.ts';
import { onceAdmitted } from './busy-server.ts';
import type { KubeClient, KubeRequest } from './client.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { ApiServer, Credentials } from '../auth/credentials.ts';
import { kubeErrorOfAnswer } from './failed-answer.ts';
import { chunksOf, exchange, readBody } from './http-exchange.ts';
import type { UsedSockets } from './http-exchange.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { RequestLimits } from './request-limits.ts';

export interface KubeClientOptions {
  /** How many requests are under way at once, streams not counted; 64 unless given. */
  readonly maxConnections?: number;
  /** For requests that say nothing else; 30 s unless given. */
  readonly timeoutMs?: number;
  /** Longer answers are refused; 64 MiB unless given. */
  readonly maxAnswerBytes?: number;
  readonly userAgent?: string;
  /** For requests that the server has no time for. */
  readonly clock?: Pick<Clock, 'random' | 'sleep'>;
  /** Told of each answer that asks for another try: with other credentials, or later. */
  onTurnedAway?(code: 401 | 429): void;
}

const mebibyte = 1024 * 1024;
const mostOfFailure = mebibyte;
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
      onTurnedAway: () => undefined,
      ...options,
    };
    this.#pool = new ConnectionPool(this.#options.maxConnections);
  }

  async request(request: KubeRequest): Promise<JsonObject> {
    const limits = new RequestLimits(request.signal, request.timeoutMs ?? this.#options.timeoutMs);
    try {
      const send = (): Promise<IncomingMessage> => this.#succeed(request, limits.signal);
      const response = await onceAdmitted(send, limits, this.#options.clock);
      return objectIn(await readBody(response, this.#options.maxAnswerBytes), response);
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
      limits.takeAnyTime();
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

  /** What swallowed one request may swallow the next: a gateway forgets all its connections at once, and tells nobody. */
  #judgeConnections({ isTimedOut }: RequestLimits): void {
    if (isTimedOut) this.#pool.dropIdle();
  }

  /** Credentials may have been replaced since they were read: a refusal is worth a second try with new ones. */
  async #succeed(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const credentials = await abortable(this.#credentials(), signal);
    const response = await this.#send(request, credentials, signal);
    if (isSuccess(response)) return response;
    const failure = await this.#failureIn(response);
    if (failure.code !== 401) throw failure;
    const renewed = await abortable(this.#renewed(credentials), signal);
    if (renewed === credentials) throw failure;
    const second = await this.#send(request, renewed, signal);
    if (isSuccess(second)) return second;
    throw await this.#failureIn(second);
  }

  async #failureIn(response: IncomingMessage): Promise<KubeError> {
    const failure = await failureIn(response);
    const { code } = failure;
    if (code === 401 || code === 429) this.#options.onTurnedAway(code);
    return failure;
  }

  /** The server may close a kept-alive connection just when a request goes out on it. Each such try uses one up. */
  async #send(request: KubeRequest, credentials: Credentials, signal: AbortSignal): Promise<IncomingMessage> {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    for (;;) {
      if (this.#isClosed) throw new KubeError({ code: 0, reason: 'ClientClosed', retryable: false });
      const options = this.#requestOptions(request, credentials, body);
      const outcome = await exchange(options, body, this.#used, signal);
      if (outcome.kind === 'answer') return outcome.response;
      if (!isRepeatable(request)) throw outcome.error;
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
      // Node wants an IPv6 address without the brackets that it has in a URL.
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port === '' ? 443 : server.port,
      method: request.method,
      path: `${root}${request.path}${query === '' ? '' : `?${query}`}`,
      headers: {
        Accept: request.accept ?? 'application/json',
        'User-Agent': this.#options.userAgent,
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

  /** Where there are no new ones, the refusal of the old ones says more. */
  async #renewed(refused: Credentials): Promise<Credentials> {
    return await this.#apiServer.renew(refused).catch(() => refused);
  }
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Doing it twice is the same as doing it once. */
function isRepeatable({ method, contentType }: KubeRequest): boolean {
  return method === 'GET' || (method === 'PATCH' && contentType === applyPatch);
}

async function failureIn(response: IncomingMessage): Promise<KubeError> {
  const body = await readBody(response, mostOfFailure);
  return kubeErrorOfAnswer(response.statusCode ?? 0, response.headers, body ?? Buffer.of());
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

/** Every key becomes a member of its own, `__proto__` too. https://tc39.es/ecma262/#sec-json.parse */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
