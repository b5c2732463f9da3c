// Sends answers as JSON, and refusals so that a client that is still sending its body can read them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusalBody } from './http-refusal.ts';
import type { HttpRefusal } from './http-refusal.ts';
import { hasBody } from './read-request.ts';

const jsonType = 'application/json';

export function sendJson(response: ServerResponse, body: string): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(200, { 'Content-Type': jsonType, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

export function sendRefusal(request: IncomingMessage, response: ServerResponse, refusal: HttpRefusal): void {
  // A broken connection has already been handled where the error was seen.
  if (response.headersSent || response.destroyed) return;
  const body = refusalBody(refusal);
  const isUnread = hasBody(request) && !request.complete;
  response.writeHead(refusal.code, {
    'Content-Type': jsonType,
    'Content-Length': Buffer.byteLength(body),
    ...refusal.headers,
    ...(isUnread ? { Connection: 'close' } : {}),
  });
  if (!isUnread) {
    response.end(body);
    return;
  }
  response.write(body);
  lingerBeforeClose(request, response);
}

/** Long enough for an answer to cross a network, short enough that a client cannot hold a connection open. */
const lingerMs = 1000;

/**
 * Reads and discards later bytes for a moment, then closes. Closing a connection with unread bytes resets it, and the
 * reset can overtake the answer (RFC 9112, section 9.6).
 */
function lingerBeforeClose(request: IncomingMessage, response: ServerResponse): void {
  const timer = setTimeout(end, lingerMs);
  function end(): void {
    clearTimeout(timer);
    response.end();
  }
  request.on('error', end).once('end', end).once('close', end);
  request.resume();
}
