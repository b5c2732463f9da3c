// The kept-alive connections to the API server: one pool for requests and streams, in which no stream takes a
// place that requests need.
import { Agent } from 'node:https';
import type { TlsCredentials } from '../auth/credentials.ts';

/** The API server closes idle connections after 90 s; whoever closes first never sends into a closed one. */
const idleMs = 60_000;
const probeMs = 30_000;

export class ConnectionPool {
  readonly #places: number;
  readonly #agents: Agent[] = [];
  #current: { readonly tls: TlsCredentials; readonly agent: Agent } | undefined;
  #streams = 0;

  /** `places`: how many requests may be under way at once; the others wait for a free connection. */
  constructor(places: number) {
    this.#places = places;
  }

  /** Connections made with other certificates are used up and not taken again. */
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

  /** A stream holds its connection for minutes, so it brings a place of its own. */
  addStream(): void {
    this.#setStreams(this.#streams + 1);
  }

  removeStream(): void {
    this.#setStreams(this.#streams - 1);
  }

  /** Those that carry nothing now; what is under way goes on. */
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
