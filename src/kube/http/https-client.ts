// The client of the API server: sends and reads JSON unchanged, and reports every error as a KubeError.
import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { abortable } from '../../base/abort.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import {
  type ApiServer,
  type Credentials,
  ConnectionPool,
  chunksOf,
  exchange,
  readAnswerBody,
  type UsedSockets,
} from './http-exchange.ts';
import { providerLabels } from '../../schema/names.ts';
import { kubeErrorOfAnswer, noAnswer } from './answers.ts';
import type { KubeClient, KubeRequest } from './client.ts';

interface KubeClientOptions {
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

  async #errorIn(response: IncomingMessage, request: KubeRequest): Promise<KubeError> {
    const error = await errorIn(response, holdsSecretValues(request));
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

/** A copy in a ConfigMap can have values of Secrets. A refusal could quote them. */
function holdsSecretValues({ path, body }: KubeRequest): boolean {
  const labels = ownMember(ownMember(body, 'metadata'), 'labels');
  return path.includes('/secrets') || ownMember(labels, providerLabels.ConfigMapShare) !== undefined;
}

async function errorIn(response: IncomingMessage, isAboutSecret: boolean): Promise<KubeError> {
  const body = await readAnswerBody(response, maxErrorBytes);
  const { statusCode = 0, headers } = response;
  return kubeErrorOfAnswer(statusCode, headers, body ?? Buffer.of(), isAboutSecret);
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

// Limits the time of one request, and sends it again within that time when the server answers 429.

export class RequestLimits {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #until: number;
  #isTimedOut = false;
  readonly #stop = (): void => this.#controller.abort(this.#caller?.reason);

  constructor(caller: AbortSignal | undefined, timeoutMs: number) {
    this.#caller = caller;
    this.#until = systemClock.monotonic() + timeoutMs;
    this.#timer = setTimeout(() => {
      this.#isTimedOut = !this.signal.aborted;
      this.#controller.abort(noAnswer('Timeout'));
    }, timeoutMs);
    if (caller?.aborted === true) this.#stop();
    caller?.addEventListener('abort', this.#stop, { once: true });
  }

  /** Aborts with the reason of the caller, or with `Timeout`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isTimedOut(): boolean {
    return this.#isTimedOut;
  }

  get leftMs(): number {
    return this.#until - systemClock.monotonic();
  }

  /** Removes the time limit: from now on only the caller ends the request. */
  removeTimeout(): void {
    clearTimeout(this.#timer);
  }

  /** Must be called at the end: the signal of a caller lives long and would keep every request in memory. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#stop);
  }
}

const tooManyRequests = 429;

/**
 * Repeats `send` after the wait that a 429 requires, if that fits into the time left. The server has not begun such a
 * request, so any method may be sent again. https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
export async function onceAdmitted<T>(
  send: () => Promise<T>,
  limits: Pick<RequestLimits, 'signal' | 'leftMs'>,
  clock: Pick<Clock, 'random' | 'sleep'>,
): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const waitMs = requiredWait(error);
      // Clients that were refused together must not come back together, or the server refuses them again.
      const spreadMs = waitMs === undefined ? Infinity : waitMs * (1 + clock.random());
      if (spreadMs >= limits.leftMs) throw error;
      await clock.sleep(spreadMs, limits.signal);
    }
  }
}

function requiredWait(error: unknown): number | undefined {
  return error instanceof KubeError && error.code === tooManyRequests ? error.retryAfterMs : undefined;
}

// Builds the paths of the API server: of a group version, a collection, an object or a subresource.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris

export interface ResourceAddress {
  readonly apiVersion: string;
  readonly plural: string;
  /** Undefined for cluster-scoped objects, and for a collection over all namespaces. */
  readonly namespace?: string | undefined;
  /** Undefined for a collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** Returns `/api/v1` or `/apis/rbac.authorization.k8s.io/v1`. */
export function groupVersionPath(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1
    ? `/api/${encodeSegment(apiVersion)}`
    : `/apis/${encodeSegment(apiVersion.slice(0, slash))}/${encodeSegment(apiVersion.slice(slash + 1))}`;
}

export function resourcePath({ apiVersion, plural, namespace, name, subresource }: ResourceAddress): string {
  const scope = namespace === undefined ? [] : ['namespaces', namespace];
  const rest = [name, subresource].filter((segment) => segment !== undefined);
  return [groupVersionPath(apiVersion), ...[...scope, plural, ...rest].map(encodeSegment)].join('/');
}

/** A segment of dots would address another path, and an empty one the collection, so both are encoded. */
function encodeSegment(segment: string): string {
  if (segment === '') return '%20';
  return /^\.+$/.test(segment) ? segment.replaceAll('.', '%2E') : encodeURIComponent(segment);
}
