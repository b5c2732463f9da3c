// Sends one HTTP request and reads its answer; errors of the network become KubeErrors here.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions, Agent } from 'node:https';
import type { Socket } from 'node:net';
import { errorCode, KubeError } from '../../base/kube-error.ts';
import { kubeErrorOf, noAnswer } from './answers.ts';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { systemClock, type Clock } from '../../base/clock.ts';
import { SingleFlight } from '../../base/abort.ts';

/** `stale`: the server had closed the kept-alive connection before it saw the request. */
type Exchange =
  | { readonly kind: 'answer'; readonly response: IncomingMessage }
  | { readonly kind: 'stale'; readonly error: KubeError };

/** Connections that were used before. Node marks only some of them as reused. */
export type UsedSockets = WeakSet<Socket>;

/** Resolves when the head of the answer has arrived. The signal also aborts the body later. */
export async function exchange(
  options: RequestOptions,
  body: string | undefined,
  used: UsedSockets,
  signal: AbortSignal,
): Promise<Exchange> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  const call = begin(options);
  let isReused = false;
  call.on('socket', (socket) => {
    isReused = used.has(socket);
    used.add(socket);
  });
  call.on('response', (response) => resolve({ kind: 'answer', response }));
  call.on('error', (cause) => {
    const error = kubeErrorOf(cause);
    if (isReused && ['ECONNRESET', 'EPIPE'].includes(error.reason)) resolve({ kind: 'stale', error });
    else reject(error);
  });
  signal.addEventListener('abort', () => {
    reject(signal.reason);
    call.destroy();
  });
  call.end(body);
  return await promise;
}

/** Node throws at once for a header or a path that HTTP does not allow. */
function begin(options: RequestOptions): ClientRequest {
  try {
    return httpsRequest(options);
  } catch (error) {
    throw new KubeError({ code: 0, reason: errorCode(error) ?? 'Unknown', retryable: false });
  }
}

/** Returns the whole body; undefined when it is longer than `maxBytes`. */
export async function readAnswerBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer> | undefined>();
  const chunks: Buffer[] = [];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length <= maxBytes) return;
    chunks.length = 0;
    resolve(undefined);
    response.destroy();
  });
  response.on('end', () => resolve(Buffer.concat(chunks)));
  response.on('error', (error) => reject(kubeErrorOf(error)));
  // Every answer ends with this event. An error with its stack for each was 2 % of a burst.
  response.on('close', () => {
    if (!response.readableEnded) reject(noAnswer('ConnectionClosed'));
  });
  return await promise;
}

/** Yields the bytes as they arrive. A reader that stops closes the connection. */
export async function* chunksOf(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) {
      if (chunk instanceof Uint8Array) yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw kubeErrorOf(error);
  }
  signal.throwIfAborted();
}

// Keeps the connections to the API server in one pool, where streams do not take the places of requests.

/** The API server closes idle connections after 90 s. Closing ours earlier avoids sending into a closed connection. */
const idleMs = 60_000;
const probeMs = 30_000;

export class ConnectionPool {
  readonly #places: number;
  readonly #agents: Agent[] = [];
  #current: { readonly tls: TlsCredentials; readonly agent: Agent } | undefined;
  #streams = 0;

  /** `places`: how many requests run at the same time; further requests wait for a free connection. */
  constructor(places: number) {
    this.#places = places;
  }

  /** Connections made with other certificates finish their request and are then closed. */
  agentFor(tls: TlsCredentials): Agent {
    if (this.#current?.tls === tls) return this.#current.agent;
    if (this.#current !== undefined) retire(this.#current.agent);
    const agent = new Agent({
      ...tls,
      keepAlive: true,
      keepAliveMsecs: probeMs,
      timeout: idleMs,
      maxSockets: this.#places + this.#streams,
      maxFreeSockets: this.#places,
      scheduling: 'lifo',
    });
    this.#agents.push(agent);
    this.#current = { tls, agent };
    return agent;
  }

  /** Adds a place for a stream, because a stream holds its connection for minutes. */
  addStream(): void {
    this.#setStreams(this.#streams + 1);
  }

  removeStream(): void {
    this.#setStreams(this.#streams - 1);
  }

  /** Closes the idle connections; running requests continue. */
  dropIdle(): void {
    for (const agent of this.#agents) destroyIdle(agent);
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }

  #setStreams(count: number): void {
    this.#streams = count;
    if (this.#current !== undefined) this.#current.agent.maxSockets = this.#places + count;
  }
}

function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  destroyIdle(agent);
}

function destroyIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) sockets?.forEach((socket) => socket.destroy());
}

// Keeps the credentials for the API server: reads them again after a minute, and when the server refuses them.

interface TlsCredentials {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** The same object as long as its content is the same. */
  readonly tls: TlsCredentials;
}

/** Reads credentials, for example from a kubeconfig. */
export interface CredentialSource {
  readonly server: URL;
  /** For messages: `the kubeconfig /home/ann/.kube/config, context dev`. */
  readonly description: string;
  /** Set when this program runs in a Pod. */
  readonly isOfPod?: true;
  /** Rejects with a CredentialError. `refused`: the server refused the credentials that were read last. */
  read(options: { readonly refused: boolean }): Promise<Credentials>;
}

export interface ApiServer {
  readonly server: URL;
  readonly description: string;
  /** True when this program runs in a Pod. A Service then sends it requests once its probes succeed. */
  readonly isOfPod?: boolean;
  /** Returns credentials read less than a minute ago. Rejects with a CredentialError when no reading ever succeeded. */
  authorize(): Promise<Credentials>;
  /** Reads again after a refusal, once for all callers. Returns the same object when nothing is new. */
  renew(refused: Credentials): Promise<Credentials>;
}

/** Why there are no credentials, in words for the person who runs the program, without secrets. */
export class CredentialError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CredentialError';
  }
}

/** The interval that client-go uses for token files. */
const freshMs = 60_000;

/** Reads the credentials once, so that a broken source rejects at the start. */
export async function connectionTo(
  source: CredentialSource,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): Promise<ApiServer> {
  const connection = new Connection(source, clock);
  await connection.authorize();
  return connection;
}

class Connection implements ApiServer {
  readonly server: URL;
  readonly description: string;
  readonly isOfPod: boolean;
  readonly #source: CredentialSource;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #reading = new SingleFlight<Credentials>();
  #last: { readonly credentials: Credentials; readonly at: number } | undefined;

  constructor(source: CredentialSource, clock: Pick<Clock, 'monotonic'>) {
    this.server = source.server;
    this.description = source.description;
    this.isOfPod = source.isOfPod ?? false;
    this.#source = source;
    this.#clock = clock;
  }

  async authorize(): Promise<Credentials> {
    const last = this.#last;
    if (last === undefined) return await this.#read(false);
    if (this.#clock.monotonic() - last.at < freshMs) return last.credentials;
    try {
      return await this.#read(false);
    } catch {
      // The old credentials are probably still valid. If not, the server refuses them and they are read again.
      return this.#keep(last.credentials);
    }
  }

  async renew(refused: Credentials): Promise<Credentials> {
    const current = this.#last?.credentials;
    return current === undefined || current === refused ? await this.#read(true) : current;
  }

  async #read(refused: boolean): Promise<Credentials> {
    return await this.#reading.run(String(refused), async () => {
      const read = checked(await this.#source.read({ refused }));
      return this.#keep(merged(this.#last?.credentials, read));
    });
  }

  #keep(credentials: Credentials): Credentials {
    this.#last = { credentials, at: this.#clock.monotonic() };
    return credentials;
  }
}

/** Keeps the old object when the content is equal, because connections are kept per object. */
function merged(last: Credentials | undefined, read: Credentials): Credentials {
  if (last === undefined) return read;
  const tls = isEqual(last.tls, read.tls) ? last.tls : read.tls;
  return tls === last.tls && isEqual(last.headers, read.headers) ? last : { headers: read.headers, tls };
}

function isEqual(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Node would report these problems only at the first request, and quote a part of the value. */
function checked(credentials: Credentials): Credentials {
  if (Object.values(credentials.headers).some((value) => !/^[\x20-\x7e]*[\x21-\x7e]$/.test(value))) {
    throw new CredentialError(
      'the token for the API server is empty or has characters that are not allowed in a token',
    );
  }
  const { ca, cert, key } = credentials.tls;
  try {
    // createSecureContext silently ignores a CA that cannot be read.
    if (ca !== undefined) void new X509Certificate(ca);
    createSecureContext({ ca, cert, key });
  } catch {
    throw new CredentialError(
      'the certificates for the API server are not PEM, or the key belongs to another certificate',
    );
  }
  return credentials;
}
