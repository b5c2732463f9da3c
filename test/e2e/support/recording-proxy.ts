// Stands between Reeve and the API server, and remembers which requests it made and which of given texts it was sent.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { layoutOf } from '../../cluster/layout.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether nothing but metadata was asked for. */
  readonly isMetadataOnly: boolean;
}

export class RecordingProxy {
  readonly #server: Server;
  readonly #upstream: { readonly url: URL; readonly agent: Agent };
  readonly #requests: SeenRequest[] = [];
  readonly #markers = new Map<string, Set<string>>();

  constructor(server: Server, url: URL, agent: Agent) {
    this.#server = server;
    this.#upstream = { url, agent };
    server.on('request', (incoming, answer) => this.#forward(incoming, answer));
  }

  get requests(): readonly SeenRequest[] {
    return this.#requests;
  }

  /** From now on it is remembered which paths are answered with that text in them. */
  lookFor(text: string): void {
    this.#markers.set(text, new Set());
  }

  pathsWith(text: string): readonly string[] {
    return [...(this.#markers.get(text) ?? [])].sort();
  }

  /** The path of a kubeconfig like that one, which leads here. */
  async kubeconfigLike(path: string): Promise<string> {
    const { port } = this.#server.address() as AddressInfo;
    const text = await readFile(path, 'utf8');
    const own = `${path}-through-${port}`;
    const target = this.#upstream.url.origin;
    await writeFile(own, text.replace(target, `https://127.0.0.1:${port}`), { mode: 0o600 });
    return own;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#upstream.agent.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #forward(incoming: IncomingMessage, answer: ServerResponse): void {
    const { url, agent } = this.#upstream;
    const { method = '', headers } = incoming;
    const target = new URL(incoming.url ?? '/', url);
    this.#requests.push({
      method,
      path: target.pathname,
      query: target.searchParams,
      isMetadataOnly: /as=PartialObjectMetadata(List)?;/.test(headers.accept ?? ''),
    });
    const sent = request(
      target,
      { method, headers: { ...headers, host: target.host }, agent },
      (received) => {
        answer.writeHead(received.statusCode ?? 502, received.headers);
        pipeline(received, this.#scanner(target.pathname), answer, () => undefined);
      },
    );
    pipeline(incoming, sent, () => undefined);
    sent.on('error', () => answer.destroy());
    answer.on('close', () => sent.destroy());
  }

  /** A text may come in two pieces. */
  #scanner(path: string): Transform {
    let tail = '';
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const text = tail + chunk.toString('latin1');
        for (const [marker, paths] of this.#markers) if (text.includes(marker)) paths.add(path);
        tail = text.slice(-1024);
        done(undefined, chunk);
      },
    });
  }
}

/** With the certificate of the API server itself, so that whoever trusts the one trusts the other. */
export async function startRecordingProxy(cluster: ClusterAccess): Promise<RecordingProxy> {
  const { serverCertificate, serverKey } = layoutOf(cluster.folder);
  const [cert, key, ca] = await Promise.all([
    readFile(serverCertificate),
    readFile(serverKey),
    readFile(cluster.caFile),
  ]);
  const server = createServer({ cert, key });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new RecordingProxy(server, new URL(cluster.server), new Agent({ keepAlive: true, ca }));
}
