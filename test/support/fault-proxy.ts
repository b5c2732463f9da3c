// Stands on the way to the API server and fails as networks do: cuts, refuses, delays, or swallows all without a word.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface Target {
  readonly port: number;
}

/** Both ends of what looks like one connection. */
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

  /** How many connections there are. */
  get connections(): number {
    return this.#lines.size;
  }

  /** How many there have ever been. */
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

  /** Refuses new connections from now on; open ones stay. */
  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** As when a machine on the way goes down: every connection is reset. */
  cut(): void {
    for (const { client, upstream } of this.#lines) {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
  }

  /** Until `heal`. */
  cutEvery(milliseconds: number): void {
    clearInterval(this.#cutting);
    this.#cutting = setInterval(() => this.cut(), milliseconds);
  }

  /**
   * As when a gateway on the way has forgotten the connections: all bytes get lost without an error. `new`
   * ones are not forgotten, unless it is for `all`.
   */
  silence(which: 'open' | 'all'): void {
    for (const { client, upstream } of this.#lines) {
      for (const socket of [client, upstream])
        socket.removeAllListeners('data').removeAllListeners('end').pause();
    }
    if (which === 'all') this.#isSilent = true;
  }

  /** In each direction; for what is sent from now on. */
  delay(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  /** New connections work as they should again. What was forgotten stays forgotten. */
  async heal(): Promise<void> {
    clearInterval(this.#cutting);
    this.#delayMs = 0;
    this.#isSilent = false;
    await this.accept();
  }

  /** The path of a kubeconfig like that one, which leads here. TLS goes through, so the names are still those of the target. */
  async kubeconfigLike(path: string): Promise<string> {
    const text = await readFile(path, 'utf8');
    const own = `${path}-through-${this.#port}`;
    await writeFile(own, text.replace(`:${this.#target.port}`, `:${this.#port}`), { mode: 0o600 });
    return own;
  }

  close(): void {
    clearInterval(this.#cutting);
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
        // Whatever goes wrong with one end ends the other; what ended well is handed on in its time.
        if (!from.readableEnded) to.destroy();
        if (to.closed) this.#lines.delete(line);
      });
      if (!this.#isSilent) this.#carry(from, to);
    }
  }

  /** In the order in which it came, since all of it is delayed alike. */
  #carry(from: Socket, to: Socket): void {
    const pass = (act: () => void): void => {
      if (this.#delayMs === 0) act();
      else setTimeout(act, this.#delayMs);
    };
    from.on('data', (chunk: Buffer) => pass(() => to.write(chunk)));
    from.on('end', () => pass(() => to.end()));
  }
}

/** Accepts connections, and harms none. */
export async function startFaultProxy(target: Target | URL): Promise<FaultProxy> {
  const proxy = new FaultProxy({ port: Number(target.port) });
  await proxy.accept();
  return proxy;
}
