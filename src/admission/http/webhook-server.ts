// The HTTPS server: TLS and the limits of Node, with an answer also for clients that speak neither TLS nor HTTP well.
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

// A new secure context starts from nothing, so these are given with every pair.
const tlsOptions = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

export class WebhookServer {
  readonly server: Server;
  readonly #app: RequestListener;
  readonly #observer: AdmissionObserver;
  /** The answer that is being given on a connection, if any. */
  readonly #current = new WeakMap<Duplex, ServerResponse>();
  #inFlight = 0;
  #isLeaving = false;

  constructor(pair: TlsPair, app: RequestListener, limits: ServerLimits, observer: AdmissionObserver) {
    this.#app = app;
    this.#observer = observer;
    this.server = createServer(optionsOf(pair, limits));
    this.server.maxConnections = limits.connections;
    this.#listenToRequests();
    this.#listenToErrors(limits);
  }

  /** Requests that have begun and are not answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** From now on every answer closes its connection, so that clients go elsewhere. */
  turnAway(): void {
    this.#isLeaving = true;
  }

  /** For new connections; those that are open stay as they are. */
  usePair(pair: TlsPair): void {
    this.server.setSecureContext({ ...pair, ...tlsOptions });
  }

  #listenToRequests(): void {
    const serve = (request: IncomingMessage, response: ServerResponse): void =>
      this.#serve(request, response);
    this.server.on('request', serve);
    // Node would say "continue" to all; the handler says it once the head of the request is found good.
    this.server.on('checkContinue', serve);
    this.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#refuse(request, response, unknownExpectation),
    );
    this.server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
      this.#answer(socket, wrongMethod('POST')),
    );
  }

  /** Whether a whole request before the broken bytes is being answered still: its answer comes first, and is the last. */
  #isBusy(socket: Duplex): boolean {
    const response = this.#current.get(socket);
    if (response === undefined || response.writableEnded || !response.req.complete) return false;
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
    // There is no way to answer before TLS is agreed on. Node's own listener would make a 'clientError' of it first.
    this.server.prependListener('tlsClientError', (_error: Error, socket: Duplex) => {
      this.#observer.refusedTransport(525, 'TlsHandshake');
      socket.destroy();
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight += 1;
    response.once('close', () => {
      this.#inFlight -= 1;
    });
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

/** RFC 9112, section 3.2: none, or more than one, is refused; only HTTP/1.0 may do without. */
function hasOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  // Names stand at the even places.
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

function optionsOf(pair: TlsPair, limits: ServerLimits): Parameters<typeof createServer>[0] {
  return {
    ...pair,
    ...tlsOptions,
    // The API server would use HTTP/2 where it is offered, with all calls on one connection.
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.handshakeMs,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    noDelay: true,
    insecureHTTPParser: false,
    // Node would answer without a body of our form.
    requireHostHeader: false,
  };
}

/** A connection that was accepted at the last moment, and whose request is still on its way, is given this long. */
const lateRequestMs = 1000;
const lookMs = 50;

/** Resolves once nothing is left; the signal ends the waiting at once. */
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
  // Takes the listener away and closes the connections on which nobody waits for anything.
  server.close(() => closed.resolve(true));
  await Promise.race([closed.promise, waitUntilIdle(webhook, limits, signal)]);
  server.closeAllConnections();
}

/** Until nothing has been in flight for a moment, and no longer than a request may take. */
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
  // Aborting is how the waiting ends early, not a failure.
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
