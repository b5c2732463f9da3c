// Stands between a client and the API server and fails as networks do: cuts, refuses, delays or swallows connections.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface Target {
  readonly port: number;
}

/** The two connections that the client and the server see as one. */
interface Line {
  readonly client: Socket;
  readonly upstream: Socket;
}

export class FaultProxy {
  readonly #target: Target;
  readonly #lines = new Set<Line>();
  #server: Server | undefined;
  #port = 0;
  #accepted = 0;
  #delayMs = 0;
  #isSilent = false;
  #cutting: NodeJS.Timeout | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  get port(): number {
    return this.#port;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#lines.size;
  }

  /** The number of connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Connects clients to the target until `refuse`, always on the same port. */
  async accept(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#join(client));
    this.#server = server;
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Refuses new connections from now on. Open connections stay. */
  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Resets every connection, as when a machine on the way goes down. */
  cut(): void {
    for (const { client, upstream } of this.#lines) {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
  }

  /**
   * Cuts all connections again and again until `heal`, first after these milliseconds. Each pause is longer than the last one,
   * so that a request has the time it needs at last, also on a machine that is slow.
   */
  cutAgainAndAgain(milliseconds: number): void {
    clearTimeout(this.#cutting);
    this.#cutting = setTimeout(() => {
      this.cut();
      this.cutAgainAndAgain(milliseconds * 1.25);
    }, milliseconds);
  }

  /**
   * Loses all bytes without an error, as a gateway that has forgotten its connections. `open` spares new
   * connections, `all` does not.
   */
  silence(which: 'open' | 'all'): void {
    for (const { client, upstream } of this.#lines) {
      for (const socket of [client, upstream])
        socket.removeAllListeners('data').removeAllListeners('end').pause();
    }
    if (which === 'all') this.#isSilent = true;
  }

  /** Delays all bytes sent from now on, in each direction. */
  delay(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  /** Lets new connections work again. Silenced connections stay silent. */
  async heal(): Promise<void> {
    clearTimeout(this.#cutting);
    this.#delayMs = 0;
    this.#isSilent = false;
    await this.accept();
  }

  /** Returns the path of a copy of the kubeconfig that leads here. TLS passes through, so the names are those of the target. */
  async kubeconfigLike(path: string): Promise<string> {
    const text = await readFile(path, 'utf8');
    const own = `${path}-through-${this.#port}`;
    await writeFile(own, text.replace(`:${this.#target.port}`, `:${this.#port}`), { mode: 0o600 });
    return own;
  }

  close(): void {
    clearTimeout(this.#cutting);
    this.refuse();
    this.cut();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #join(client: Socket): void {
    this.#accepted += 1;
    const upstream = connect({
      port: this.#target.port,
      host: '127.0.0.1',
      allowHalfOpen: true,
      noDelay: true,
    });
    const line = { client, upstream };
    this.#lines.add(line);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => undefined);
      from.once('close', () => {
        // An error of one end ends the other. A normal end is forwarded after its bytes.
        if (!from.readableEnded) to.destroy();
        if (to.closed) this.#lines.delete(line);
      });
      if (!this.#isSilent) this.#carry(from, to);
    }
  }

  /** Delays all bytes alike, so that they keep their order. */
  #carry(from: Socket, to: Socket): void {
    const pass = (act: () => void): void => {
      if (this.#delayMs === 0) act();
      else setTimeout(act, this.#delayMs);
    };
    from.on('data', (chunk: Buffer) => pass(() => to.write(chunk)));
    from.on('end', () => pass(() => to.end()));
  }
}

/** Starts a proxy that accepts connections and disturbs none. */
export async function startFaultProxy(target: Target | URL): Promise<FaultProxy> {
  const proxy = new FaultProxy({ port: Number(target.port) });
  await proxy.accept();
  return proxy;
}
