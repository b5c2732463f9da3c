// Stands in for kube-proxy: forwards connections to the ready replicas, each in its turn.
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface Replica {
  readonly port: number;
  /** The plain HTTP port of the probes. /readyz answers 200 once the replica accepts requests. */
  readonly probesPort: number;
}

const pollMs = 50;
// The Deployment of the webhook has the same timeout: a machine that is busy for a moment does not remove a replica.
// https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/#configure-probes
const probeTimeoutMs = 2000;
const lateProbesInARow = 2;

/** As in a cluster, a connection stays with its replica, even when the replica is no longer ready. */
export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #polls = new Map<Replica, NodeJS.Timeout>();
  #replicas: readonly Replica[];
  #ready: readonly Replica[] = [];
  #turn = 0;
  #accepted = 0;
  #isClosed = false;

  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#forward(socket));
    for (const replica of replicas) void this.#poll(replica);
  }

  /** Listens on the given port of 127.0.0.1, by default on a free one. */
  async listen(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Replicas whose last probe succeeded. */
  get ready(): readonly Replica[] {
    return this.#ready;
  }

  /** The number of connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Replaces the replicas, as a Deployment replaces its pods. */
  setReplicas(replicas: readonly Replica[]): void {
    const added = replicas.filter((replica) => !this.#replicas.includes(replica));
    this.#replicas = replicas;
    this.#ready = this.#ready.filter((replica) => replicas.includes(replica));
    for (const replica of added) void this.#poll(replica);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#polls.values()) clearTimeout(timer);
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #poll(replica: Replica, lateBefore = 0): Promise<void> {
    const answer = await probe(replica);
    if (this.#isClosed || !this.#replicas.includes(replica)) return;
    const late = answer === 'late' ? lateBefore + 1 : 0;
    const wasReady = this.#ready.includes(replica);
    const isReady = answer === 'ready' || (wasReady && late > 0 && late < lateProbesInARow);
    this.#ready = this.#replicas.filter((other) =>
      other === replica ? isReady : this.#ready.includes(other),
    );
    const timer = setTimeout(() => void this.#poll(replica, late), pollMs);
    this.#polls.set(replica, timer);
  }

  #forward(client: Socket): void {
    this.#accepted += 1;
    this.#track(client);
    const candidates = this.#ready.map((_, index) => this.#ready[(this.#turn + index) % this.#ready.length]);
    this.#turn += 1;
    this.#connect(
      client,
      candidates.flatMap((replica) => replica ?? []),
    );
  }

  /** A replica that has just ended refuses the connection. Then the next replica gets it. */
  #connect(client: Socket, [replica, ...others]: readonly Replica[]): void {
    if (replica === undefined || client.destroyed) {
      client.destroy();
      return;
    }
    const upstream = connect({ port: replica.port, host: '127.0.0.1', allowHalfOpen: true });
    this.#track(upstream);
    const refused = (): void => this.#connect(client, others);
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused);
      client.pipe(upstream).pipe(client);
      client.once('close', () => upstream.destroy());
      upstream.once('close', () => client.destroy());
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    // Any error of a connection ends it for both sides.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

function probe({ probesPort }: Replica): Promise<'ready' | 'not ready' | 'late'> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port: probesPort, path: '/readyz', agent: false };
    const sent = get({ ...options, timeout: probeTimeoutMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? 'ready' : 'not ready');
    });
    sent.on('timeout', () => {
      resolve('late');
      sent.destroy();
    });
    sent.on('error', () => resolve('not ready'));
  });
}
