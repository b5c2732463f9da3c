// A real HTTPS server that answers as a test says, and records the requests.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { issueCertificates, type IssuedCertificates } from '../../../src/certs/issue/issue.ts';
import type { KubeClient } from '../../../src/kube/http/client.ts';
import type { ApiServer, Credentials } from '../../../src/kube/http/http-exchange.ts';
import { createKubeClient } from '../../../src/kube/http/https-client.ts';

type KubeClientOptions = Parameters<typeof createKubeClient>[1];

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export interface StubServer {
  readonly url: URL;
  readonly ca: string;
  readonly requests: readonly SeenRequest[];
  /** All connections, from the first to the last. */
  readonly connections: readonly TLSSocket[];
  /** Ends the connection of this answer with a TCP reset. */
  reset(response: ServerResponse): void;
}

export type Answering = (response: ServerResponse, request: SeenRequest) => void;

let certificates: Promise<IssuedCertificates> | undefined;

/** Issues certificates once, because that takes a while, and with the real time, because the client checks it. */
export function stubCertificates(): Promise<IssuedCertificates> {
  certificates ??= issueCertificates({
    namespace: 'reeve-system',
    now: new Date(),
    caLifetimeDays: 2,
    leafLifetimeDays: 1,
    extraNames: ['127.0.0.1'],
  });
  return certificates;
}

/** Starts a server that stops with its test. */
export async function startStub(answer: Answering): Promise<StubServer> {
  const { ca, serving } = await stubCertificates();
  const requests: SeenRequest[] = [];
  const connections: TLSSocket[] = [];
  const server = createServer({ cert: serving.certPem, key: serving.keyPem, keepAliveTimeout: 600_000 });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const what = await seen(request);
    requests.push(what);
    answer(response, what);
  };
  server.on('request', (request, response) => void serve(request, response));
  server.on('secureConnection', (socket) => connections.push(socket));
  const sockets = new Map<number | undefined, Socket>();
  server.on('connection', (socket) => {
    if (socket instanceof Socket) sockets.set(socket.remotePort, socket);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on a port');
  return {
    url: new URL(`https://127.0.0.1:${address.port}`),
    ca: ca.certPem,
    requests,
    connections,
    reset: (response) => sockets.get(response.socket?.remotePort)?.resetAndDestroy(),
  };
}

async function seen(request: IncomingMessage): Promise<SeenRequest> {
  const body = await text(request);
  const url = new URL(request.url ?? '/', 'https://stub');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: body === '' ? undefined : JSON.parse(body),
  };
}

/** Creates a client with fixed credentials, unless the test gives others. */
export function clientOf(
  stub: StubServer,
  options: KubeClientOptions = {},
  access: Partial<ApiServer> = {},
): KubeClient {
  const credentials: Credentials = {
    headers: { Authorization: 'Bearer good' },
    tls: { ca: stub.ca, rejectUnauthorized: true },
  };
  const apiServer: ApiServer = {
    server: stub.url,
    description: 'the stub',
    authorize: () => Promise.resolve(credentials),
    renew: () => Promise.resolve(credentials),
    ...access,
  };
  const client = createKubeClient(apiServer, options);
  onTestFinished(() => client.close());
  return client;
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  code = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));
}

export function statusOf(code: number, reason: string, more: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'no', reason, code, ...more };
}

export async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}
