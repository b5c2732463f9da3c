// The HTTPS server: TLS, connection limits, answers to broken clients, and a graceful end.
import { constants } from 'node:crypto';
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { errorCode } from '../../base/kube-error.ts';
import {
  wrongMethod,
  missingHost,
  unknownExpectation,
  type HttpRefusal,
  serverError,
  unknownPath,
  headersTooLarge,
  malformedRequest,
  refusalBody,
  timedOut,
  type ServerLimits,
} from './limits.ts';
import type { AdmissionObserver, Endpoint } from '../ports.ts';
import { sendRefusal } from './exchange.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router, type NextFunction, type Request, type Response } from 'express';
import type { HttpHandler } from '../handler.ts';
import { Socket } from 'node:net';

/** Certificate and key in PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

// A new secure context has no settings, so these are set with every certificate.
const tlsOptions = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

export class WebhookServer {
  readonly server: Server;
  readonly #app: RequestListener;
  readonly #observer: AdmissionObserver;
  /** The answer that is being sent on a connection, if any. */
  readonly #current = new WeakMap<Duplex, ServerResponse>();
  #inFlight = 0;
  #isLeaving = false;
  readonly #answered = (): void => {
    this.#inFlight -= 1;
  };

  constructor(pair: TlsPair, app: RequestListener, limits: ServerLimits, observer: AdmissionObserver) {
    this.#app = app;
    this.#observer = observer;
    this.server = createServer(optionsOf(pair, limits));
    this.server.maxConnections = limits.connections;
    this.#listenToRequests();
    this.#listenToErrors(limits);
  }

  /** The number of requests without a complete answer. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** From now on every answer closes its connection, so that clients connect to another replica. */
  turnAway(): void {
    this.#isLeaving = true;
  }

  /** Sets the certificate for new connections. Open connections keep theirs. */
  usePair(pair: TlsPair): void {
    this.server.setSecureContext({ ...pair, ...tlsOptions });
  }

  #listenToRequests(): void {
    const serve = (request: IncomingMessage, response: ServerResponse): void =>
      this.#serve(request, response);
    this.server.on('request', serve);
    // Node would answer "continue" to all requests. The handler sends it after it has accepted the headers.
    this.server.on('checkContinue', serve);
    this.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#refuse(request, response, unknownExpectation),
    );
    this.server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
      this.#answer(socket, wrongMethod('POST')),
    );
  }

  /** Returns whether the answer to a complete request before the broken bytes is still to be sent. Then it is the last one. */
  #isBusy(socket: Duplex): boolean {
    const response = this.#current.get(socket);
    if (response === undefined || response.writableFinished || !response.req.complete) return false;
    response.shouldKeepAlive = false;
    response.once('finish', () => socket.end());
    return true;
  }

  #listenToErrors({ keepAliveMs }: ServerLimits): void {
    this.server.on('clientError', (error: Error, socket: Duplex) => {
      if (errorCode(error) === 'ECONNRESET' || !socket.writable) socket.destroy();
      else if (isUnused(error, socket)) socket.setTimeout(keepAliveMs);
      else if (!this.#isBusy(socket)) this.#answer(socket, refusalOfClientError(error));
    });
    // Without TLS no answer is possible. This listener runs before the one of Node, which would emit 'clientError'.
    this.server.prependListener('tlsClientError', (_error: Error, socket: Duplex) => {
      this.#observer.refusedTransport(525, 'TlsHandshake');
      socket.destroy();
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight += 1;
    response.on('close', this.#answered);
    const earlier = this.#current.get(request.socket);
    if (earlier?.writableFinished === false) readThroughStream(request.socket);
    this.#current.set(request.socket, response);
    if (this.#isLeaving) response.shouldKeepAlive = false;
    if (!hasOneHost(request)) {
      this.#refuse(request, response, missingHost);
    } else {
      this.#app(request, response);
    }
  }

  #refuse(request: IncomingMessage, response: ServerResponse, refusal: HttpRefusal): void {
    this.#observer.refusedTransport(refusal.code, refusal.reason);
    sendRefusal(request, response, refusal);
  }

  #answer(socket: Duplex, refusal: HttpRefusal): void {
    this.#observer.refusedTransport(refusal.code, refusal.reason);
    answerOnSocket(socket, refusal, this.#current.get(socket));
  }
}

/**
 * For a client that sends requests before it has its answers. When too many answers wait, Node pauses its parser, but TLS still
 * delivers what it has decrypted, which the paused parser takes for broken HTTP. With a listener for 'data' these bytes wait in
 * the stream of the socket. https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js, `unconsume`.
 */
function readThroughStream(socket: Duplex): void {
  if (socket.listenerCount('data', ignoreBytes) > 0) return;
  socket.on('data', ignoreBytes);
  // The stream believes that it is reading. Without this, a socket that is already paused would never read again.
  socket.push('');
}

function ignoreBytes(): void {
  // The listener of Node gives them to its parser.
}

/** RFC 9112, section 3.2: exactly one Host header; only HTTP/1.0 may omit it. */
function hasOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  // Header names are at even indices.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

function optionsOf(pair: TlsPair, limits: ServerLimits): Parameters<typeof createServer>[0] {
  return {
    ...pair,
    ...tlsOptions,
    // With HTTP/2 the API server would send all calls on one connection.
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.handshakeMs,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    noDelay: true,
    insecureHTTPParser: false,
    // The answer of Node would have no Status body.
    requireHostHeader: false,
  };
}

/** How long a connection that was accepted at the last moment may take to send its request. */
const lateRequestMs = 1000;
const lookMs = 50;

/**
 * Stops the server gracefully: tells clients to reconnect, closes the port, answers what is in flight. The signal stops
 * it at once.
 */
export async function drain(
  webhook: WebhookServer,
  graceMs: number,
  limits: ServerLimits,
  signal: AbortSignal,
): Promise<void> {
  const { server } = webhook;
  webhook.turnAway();
  await waitFor(graceMs, signal);
  const closed = Promise.withResolvers<boolean>();
  // Stops listening, and closes idle connections.
  server.close(() => closed.resolve(true));
  await Promise.race([closed.promise, waitUntilIdle(webhook, limits, signal)]);
  server.closeAllConnections();
}

/** Waits until no request has been in flight for a moment, but not longer than one request may take. */
async function waitUntilIdle(
  webhook: WebhookServer,
  limits: ServerLimits,
  signal: AbortSignal,
): Promise<void> {
  let idleMs = 0;
  for (
    let passedMs = 0;
    passedMs < limits.requestMs && idleMs < lateRequestMs && !signal.aborted;
    passedMs += lookMs
  ) {
    await waitFor(lookMs, signal);
    idleMs = webhook.inFlight === 0 ? idleMs + lookMs : 0;
  }
}

async function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  // An abort ends the wait early. It is not an error.
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

// Defines the routes of the webhook. This is the only file that imports express.

/**
 * Paths match exactly, without redirects. Only the router of express is used: its application adds headers, parsers and
 * a second prototype to each request, which costs more than the routing. Reviews do not pass the router at all: it took 5 %
 * of the time of an answer.
 */
export function webhookApp(
  handlers: Readonly<Record<Endpoint, HttpHandler>>,
  observer: AdmissionObserver,
): RequestListener {
  const router = Router({ strict: true, caseSensitive: true });
  for (const endpoint of ['validate', 'mutate'] as const) {
    router
      .route(`/${endpoint}`)
      .post(handlers[endpoint])
      .all(refusing(wrongMethod('POST'), observer));
  }
  router.use(refusing(unknownPath, observer));
  // Express recognizes an error handler by its four parameters.
  router.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    observer.failed(error);
    sendRefusal(request, response, serverError);
  });
  const direct = new Map(Object.entries(handlers).map(([endpoint, handler]) => [`/${endpoint}`, handler]));
  return (request, response) => {
    const handler = request.method === 'POST' ? direct.get(pathOf(request.url ?? '')) : undefined;
    if (handler !== undefined) {
      void handler(request, response);
      return;
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no handler here uses what express would add to them
    router(request as Request, response as Response, (error: unknown) => observer.failed(error));
  };
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function refusing(refusal: HttpRefusal, observer: AdmissionObserver) {
  return (request: Request, response: Response): void => {
    observer.refusedTransport(refusal.code, refusal.reason);
    sendRefusal(request, response, refusal);
  };
}

// Answers bytes that never become a request: broken HTTP, slow requests, methods that Node does not know.

/** https://nodejs.org/api/http.html#event-clienterror and the codes of its parser. */
function refusalOfClientError(error: unknown): HttpRefusal {
  switch (errorCode(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return headersTooLarge;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return timedOut;
    case 'HPE_INVALID_METHOD':
      return isForeignMethod(error) ? wrongMethod('POST') : malformedRequest;
    default:
      return malformedRequest;
  }
}

/**
 * Returns whether nothing was ever sent on this connection. Go opens spare connections and keeps them for later:
 * https://pkg.go.dev/net/http#Transport. Node times them out like slow headers. Refusing such a connection could fail a
 * request that is already on its way.
 */
function isUnused(error: unknown, socket: Duplex): socket is Socket {
  const isTooLate = errorCode(error) === 'ERR_HTTP_REQUEST_TIMEOUT';
  return isTooLate && socket instanceof Socket && socket.bytesRead === 0;
}

/** Returns whether the bytes are a request line with a method unknown to Node, and not something other than HTTP. */
function isForeignMethod(error: unknown): boolean {
  if (!(error instanceof Error) || !('rawPacket' in error) || !Buffer.isBuffer(error.rawPacket)) return false;
  return /^[A-Z]{1,32} \/\S* HTTP\/1\.[01]\r\n/.test(error.rawPacket.toString('latin1', 0, 2048));
}

/** Long enough for an answer to cross a network, short enough that a client cannot hold a connection open. */
const lingerMs = 1000;

/** Answers on a socket without a ServerResponse. It writes nothing into an answer that is already being sent. */
function answerOnSocket(socket: Duplex, refusal: HttpRefusal, current: ServerResponse | undefined): void {
  const isUnderWay = current?.headersSent === true && !current.writableEnded;
  if (!socket.writable || isUnderWay) {
    socket.destroy();
    return;
  }
  // Later bytes are discarded for a moment: closing at once could reset the connection before the client reads the answer.
  socket.on('error', () => socket.destroy());
  socket.end(rawResponse(refusal));
  // Node's listener must not get bytes while its parser is paused: an assertion would end the process.
  socket.removeAllListeners('data').resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function rawResponse(refusal: HttpRefusal): string {
  const body = refusalBody(refusal);
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...refusal.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.code} ${STATUS_CODES[refusal.code] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}
