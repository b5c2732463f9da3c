// Sends answers: JSON with its length, and refusals in such a way that also a client in the middle of its body gets them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusalBody } from './http-refusal.ts';
import type { HttpRefusal } from './http-refusal.ts';
import { hasBody } from './read-request.ts';

const jsonType = 'application/json';

export function sendJson(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'Content-Type': jsonType, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

export function sendRefusal(request: IncomingMessage, response: ServerResponse, refusal: HttpRefusal): void {
  // A connection that broke meanwhile was answered by whoever noticed.
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

/** Long enough for an answer to cross a network, short enough that nobody holds a connection with it. */
const lingerMs = 1000;

/**
 * Closing a connection on which unread bytes arrive resets it, and a reset can overtake the answer (RFC 9112, section
 * 9.6). So what still comes is read and thrown away for a moment; nothing of it is kept.
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
