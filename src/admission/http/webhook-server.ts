// The HTTPS server: TLS, connection limits, answers to broken clients, and a graceful end.
import { constants } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { errorCode } from '../../base/error-code.ts';
import { answerOnSocket, isUnused, refusalOfClientError } from './client-errors.ts';
import { wrongMethod, missingHost, unknownExpectation, type HttpRefusal } from './http-refusal.ts';
import type { AdmissionObserver } from '../ports.ts';
import { sendRefusal } from './send.ts';
import type { ServerLimits } from './server-limits.ts';
import { setTimeout as sleep } from 'node:timers/promises';

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
