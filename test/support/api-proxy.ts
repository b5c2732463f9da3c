// Stands in front of an API server with its certificate. Subclasses can change requests and answers.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline, type Transform } from 'node:stream';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { layoutOf } from '../cluster/layout.ts';

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The media types in the Accept header. */
  readonly accept: string;
}

/** An answer that the proxy gives in place of the API server. */
export interface OwnAnswer {
  readonly status: number;
  readonly body: object;
}

export interface Front {
  readonly server: Server;
  readonly url: URL;
  readonly agent: Agent;
}

/** Serves the certificate of the API server itself, so that its clients trust the proxy too. */
export async function frontOf(cluster: ClusterAccess): Promise<Front> {
  const { serverCertificate, serverKey } = layoutOf(cluster.folder);
  const [cert, key, ca] = await Promise.all([
    readFile(serverCertificate),
    readFile(serverKey),
    readFile(cluster.caFile),
  ]);
  const server = createServer({ cert, key });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: new URL(cluster.server), agent: new Agent({ keepAlive: true, ca }) };
}

export abstract class ApiProxy {
  readonly #front: Front;

  constructor(front: Front) {
    this.#front = front;
    front.server.on('request', (incoming, answer) => void this.#forward(incoming, answer));
  }

  /** Resolves when the request may go on to the API server, or with the answer to give instead. */
  protected abstract asked(exchange: Exchange): Promise<OwnAnswer | undefined>;

  /** Returns the stream through which the body of the API server's answer passes. */
  protected abstract filter(exchange: Exchange): Transform;

  /** Returns the path of a copy of the kubeconfig that leads to this proxy. */
  async kubeconfigLike(path: string): Promise<string> {
    const { port } = this.#front.server.address() as AddressInfo;
    const text = await readFile(path, 'utf8');
    const own = `${path}-through-${port}`;
    const target = this.#front.url.origin;
    await writeFile(own, text.replace(target, `https://127.0.0.1:${port}`), { mode: 0o600 });
    return own;
  }

  async close(): Promise<void> {
    const { server, agent } = this.#front;
    server.closeAllConnections();
    agent.destroy();
    server.close();
    await once(server, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { url, agent } = this.#front;
    const { method = '', headers } = incoming;
    const target = new URL(incoming.url ?? '/', url);
    const exchange: Exchange = {
      method,
      path: target.pathname,
      query: target.searchParams,
      accept: headers.accept ?? '',
    };
    const own = await this.asked(exchange);
    if (own !== undefined) {
      incoming.resume();
      answer.writeHead(own.status, { 'content-type': 'application/json' }).end(JSON.stringify(own.body));
      return;
    }
    const options = { method, headers: { ...headers, host: target.host }, agent };
    const sent = request(target, options, (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers);
      pipeline(received, this.filter(exchange), answer, () => undefined);
    });
    pipeline(incoming, sent, () => undefined);
    sent.on('error', () => answer.destroy());
    answer.on('close', () => sent.destroy());
  }
}
