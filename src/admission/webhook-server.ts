// The HTTPS server: TLS and the limits of Node, with an answer also for clients that speak neither TLS nor HTTP well.
import { constants } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { answerOnSocket, codeOf, refusalOfClientError } from './client-errors.ts';
import { methodNotAllowed, missingHost, unknownExpectation } from './http-refusal.ts';
import type { HttpRefusal } from './http-refusal.ts';
import type { AdmissionObserver } from './ports.ts';
import { sendRefusal } from './send.ts';
import type { ServerLimits } from './server-limits.ts';

/** Certificate and key in PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

export interface WebhookServer {
  readonly server: Server;
  /** Requests that have begun and are not answered. */
  readonly inFlight: () => number;
  /** From now on every answer closes its connection, so that clients go elsewhere. */
  readonly turnAway: () => void;
  /** For new connections; those that are open stay as they are. */
  readonly usePair: (pair: TlsPair) => void;
}

export function createWebhookServer(
  pair: TlsPair,
  app: RequestListener,
  limits: ServerLimits,
  observer: AdmissionObserver,
): WebhookServer {
  const state = { inFlight: 0, isLeaving: false };
  const current = new WeakMap<Duplex, ServerResponse>();
  const server = createServer(optionsOf(pair, limits));
  server.maxConnections = limits.connections;

  function serve(request: IncomingMessage, response: ServerResponse): void {
    state.inFlight++;
    current.set(request.socket, response);
    response.once('close', () => state.inFlight--);
    if (state.isLeaving) response.shouldKeepAlive = false;
    const refusal = request.httpVersion === '1.1' && request.headers.host === undefined ? missingHost : undefined;
    if (refusal === undefined) app(request, response);
    else refuse(request, response, refusal);
  }

  function refuse(request: IncomingMessage, response: ServerResponse, refusal: HttpRefusal): void {
    observer.refusedTransport(refusal.code, refusal.reason);
    sendRefusal(request, response, refusal);
  }

  function answer(socket: Duplex, refusal: HttpRefusal): void {
    observer.refusedTransport(refusal.code, refusal.reason);
    answerOnSocket(socket, refusal, current.get(socket));
  }

  server.on('request', serve);
  // Node would say "continue" to all; the handler says it once the head of the request is found good.
  server.on('checkContinue', serve);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    refuse(request, response, unknownExpectation),
  );
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => answer(socket, methodNotAllowed('POST')));
  server.on('clientError', (error: Error, socket: Duplex) => {
    if (codeOf(error) === 'ECONNRESET' || !socket.writable) socket.destroy();
    else answer(socket, refusalOfClientError(error));
  });
  // There is no way to answer before TLS is agreed on. Node's own listener would make a 'clientError' of it first.
  server.prependListener('tlsClientError', (_error: Error, socket: Duplex) => {
    observer.refusedTransport(525, 'TlsHandshake');
    socket.destroy();
  });
  return {
    server,
    inFlight: () => state.inFlight,
    turnAway: () => {
      state.isLeaving = true;
    },
    usePair: (changed) => server.setSecureContext({ ...changed, ...tlsOptions }),
  };
}

// A new secure context starts from nothing, so these are given with every pair.
const tlsOptions = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

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
