// Talks to a server byte by byte over TLS, to send bytes that no HTTP library sends.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

interface RawAnswer {
  readonly code: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export async function openTls(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: false,
    servername: 'localhost',
    ...options,
  });
  await once(socket, 'secureConnect');
  // The tests read how the server ends a connection, so an error of the socket must not fail them.
  socket.on('error', () => undefined);
  return socket;
}

/** Returns everything that the server sends until it closes the connection. */
export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

/** Waits until the text that the server has sent matches the pattern. */
export async function readUntil(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (pattern.test(text)) return text;
  }
  return text;
}

/** Sends the bytes on a new connection and reads the answers until the server closes it. */
export async function exchange(port: number, ...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = await openTls(port);
  const answer = readAll(socket);
  for (const part of parts) socket.write(part);
  return await answer;
}

export function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { code: Number(statusLine.split(' ')[1]), headers: new Map(headers), body: rest.join('\r\n\r\n') };
}
