// Answers what never becomes a request: broken HTTP, requests that take too long, methods that Node does not know.
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
 * A connection on which nothing was ever sent, where Node counts the time for the headers from its beginning. Go opens
 * more than it needs, and keeps them for later: https://pkg.go.dev/net/http#Transport. To turn it away is to fail the
 * request that may be on its way just then.
 */
export function isUnused(error: unknown, socket: Duplex): socket is Socket {
  const isTooLate = errorCode(error) === 'ERR_HTTP_REQUEST_TIMEOUT';
  return isTooLate && socket instanceof Socket && socket.bytesRead === 0;
}

/** A request line with a method that Node has never heard of, as against bytes that are no HTTP at all. */
function isForeignMethod(error: unknown): boolean {
  if (!(error instanceof Error) || !('rawPacket' in error) || !Buffer.isBuffer(error.rawPacket)) return false;
  return /^[A-Z]{1,32} \/\S* HTTP\/1\.[01]\r\n/.test(error.rawPacket.toString('latin1', 0, 2048));
}

/** Long enough for an answer to cross a network, short enough that nobody holds a connection with it. */
const lingerMs = 1000;

/** For sockets that have no ServerResponse. Nothing is written into the middle of an answer that is under way. */
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
  // What still arrives is thrown away for a moment: closing at once could reset the connection before the answer is read.
  socket.on('error', () => socket.destroy());
  socket.end(rawResponse(refusal));
  socket.resume();
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
