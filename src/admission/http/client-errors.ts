// Answers bytes that never become a request: broken HTTP, slow requests, methods that Node does not know.
import { STATUS_CODES } from 'node:http';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorCode } from '../../base/error-code.ts';
import { headersTooLarge, malformedRequest, wrongMethod, refusalBody, timedOut } from './http-refusal.ts';
import type { HttpRefusal } from './http-refusal.ts';

/** https://nodejs.org/api/http.html#event-clienterror and the codes of its parser. */
export function refusalOfClientError(error: unknown): HttpRefusal {
  switch (errorCode(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return headersTooLarge;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return timedOut;
    case 'HPE_INVALID_METHOD':
      return isForeignMethod(error) ? wrongMethod('POST') : malformedRequest;
    default:
      return malformedRequest;
  }
}

/**
 * Returns whether nothing was ever sent on this connection. Go opens spare connections and keeps them for later:
 * https://pkg.go.dev/net/http#Transport. Node times them out like slow headers. Refusing such a connection could fail a
 * request that is already on its way.
 */
export function isUnused(error: unknown, socket: Duplex): socket is Socket {
  const isTooLate = errorCode(error) === 'ERR_HTTP_REQUEST_TIMEOUT';
  return isTooLate && socket instanceof Socket && socket.bytesRead === 0;
}

/** Returns whether the bytes are a request line with a method unknown to Node, and not something other than HTTP. */
function isForeignMethod(error: unknown): boolean {
  if (!(error instanceof Error) || !('rawPacket' in error) || !Buffer.isBuffer(error.rawPacket)) return false;
  return /^[A-Z]{1,32} \/\S* HTTP\/1\.[01]\r\n/.test(error.rawPacket.toString('latin1', 0, 2048));
}

/** Long enough for an answer to cross a network, short enough that a client cannot hold a connection open. */
const lingerMs = 1000;

/** Answers on a socket without a ServerResponse. It writes nothing into an answer that is already being sent. */
export function answerOnSocket(
  socket: Duplex,
  refusal: HttpRefusal,
  current: ServerResponse | undefined,
): void {
  const isUnderWay = current?.headersSent === true && !current.writableEnded;
  if (!socket.writable || isUnderWay) {
    socket.destroy();
    return;
  }
  // Later bytes are discarded for a moment: closing at once could reset the connection before the client reads the answer.
  socket.on('error', () => socket.destroy());
  socket.end(rawResponse(refusal));
  // Node's listener must not get bytes while its parser is paused: an assertion would end the process.
  socket.removeAllListeners('data').resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function rawResponse(refusal: HttpRefusal): string {
  const body = refusalBody(refusal);
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...refusal.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.code} ${STATUS_CODES[refusal.code] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}
