// Keeps the connections to the API server in one pool, where streams do not take the places of requests.
import { Agent } from 'node:https';
import type { TlsCredentials } from '../auth/credentials.ts';

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
