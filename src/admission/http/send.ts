// Sends answers as JSON, and refusals so that a client that is still sending its body can read them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusalBody, type HttpRefusal } from './http-refusal.ts';
import { hasBody } from './read-request.ts';
import type { Clock } from '../../base/clock.ts';

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

// Sends the answers of a busy moment together, after all requests that have arrived are judged.

/** Longer than 32 connections take for a turn. Without it, a slow decision delays the answers before it in its turn. */
const maxWaitMs = 5;

interface WaitingAnswer {
  readonly send: () => void;
  /** Called after all answers of the turn are sent: work between two writes would take their gain. */
  readonly sent: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Writes the answers of one turn of the event loop one after the other, because each write wakes its reader, which costs
 * more than the decision. With 32 connections this gave 27 % more answers a second. A lonely answer is sent at once.
 */
export class AnswerQueue {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #waiting: WaitingAnswer[] = [];
  #oldestAt = 0;
  #inTurn = 0;
  /** True if the last turn of the event loop had more than one answer. */
  #isBusy = false;
  readonly #endTurn = (): void => {
    this.#isBusy = this.#inTurn > 1;
    this.#inTurn = 0;
    this.#sendWaiting();
  };

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Calls `failed` when `send` or `sent` throws. Each answer has its own error. */
  add(answer: WaitingAnswer): void {
    if (this.#inTurn === 0) setImmediate(this.#endTurn);
    this.#inTurn += 1;
    const now = this.#clock.monotonic();
    if (this.#waiting.length === 0) this.#oldestAt = now;
    this.#waiting.push(answer);
    if (!this.#isBusy || now - this.#oldestAt >= maxWaitMs) this.#sendWaiting();
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { send, failed } of waiting) attempt(send, failed);
    for (const { sent, failed } of waiting) attempt(sent, failed);
  }
}

function attempt(work: () => void, failed: (error: unknown) => void): void {
  try {
    work();
  } catch (error) {
    failed(error);
  }
}
