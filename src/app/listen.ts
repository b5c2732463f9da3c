// Opens the port of a server, and explains in one sentence why it cannot.
import type { Server } from 'node:net';
import { errorCode } from '../base/kube-error.ts';
import { StartError } from '../base/start-error.ts';

const reasons: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'another program listens there'],
  ['EACCES', 'this user may not open that port'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
  ['ENOTFOUND', 'no such address'],
]);

/** Returns the open port; for port 0 the system chooses one. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  function onError(error: Error): void {
    const code = errorCode(error) ?? 'unknown';
    reject(new StartError(`cannot listen on ${host}:${port}: ${reasons.get(code) ?? 'it failed'} (${code})`));
  }
  server.once('error', onError);
  server.listen({ port, host }, () => {
    server.off('error', onError);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : port);
  });
  return promise;
}

/** Puts an IPv6 address in brackets. */
export function urlOf(scheme: 'http' | 'https', host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
