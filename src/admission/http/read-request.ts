// Reads a request: first checks its headers, then reads its body within limits of size, time and memory.
import type { IncomingMessage } from 'node:http';
import {
  badTimeout,
  bodyTooLarge,
  emptyBody,
  unknownTransferCoding,
  wrongContentCoding,
  wrongMediaType,
  type HttpRefusal,
  timedOut,
  tooManyBytes,
} from './http-refusal.ts';
import type { Deadline } from './deadline.ts';
import { parseGoDuration } from '../../base/time.ts';

type Head =
  | { readonly ok: true; readonly contentLength: number | undefined; readonly timeoutMs: number }
  | { readonly ok: false; readonly refusal: HttpRefusal };

export function readHead(
  request: IncomingMessage,
  limits: { readonly bodyBytes: number; readonly requestMs: number },
): Head {
  const { headers } = request;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return refused(unknownTransferCoding);
  const contentLength = contentLengthOf(request);
  if (contentLength !== undefined && contentLength > limits.bodyBytes) return refused(bodyTooLarge);
  if (!hasBody(request)) return refused(emptyBody);
  if (!isPlain(headers['content-encoding'])) return refused(wrongContentCoding);
  if (!isJsonInUtf8(headers['content-type'])) return refused(wrongMediaType);
  const timeoutMs = timeoutOf(request.url ?? '', limits.requestMs);
  return timeoutMs === undefined ? refused(badTimeout) : { ok: true, contentLength, timeoutMs };
}

function refused(refusal: HttpRefusal): Head {
  return { ok: false, refusal };
}

/** Returns whether the request has a body: without either header there is none. https://www.rfc-editor.org/rfc/rfc9112#section-6.3 */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (contentLengthOf(request) ?? 0) > 0;
}

/** The parser of Node has already refused everything but digits. */
function contentLengthOf({ headers }: IncomingMessage): number | undefined {
  const value = headers['content-length'];
  return value === undefined ? undefined : Number(value);
}

/** A compressed body could expand a thousandfold, and the API server never sends one. */
function isPlain(coding: string | undefined): boolean {
  return coding === undefined || coding.trim().toLowerCase() === 'identity';
}

const jsonInUtf8 = /^application\/json[ \t]*(;[ \t]*charset=("utf-8"|utf-8)[ \t]*)?$/i;

function isJsonInUtf8(contentType: string | undefined): boolean {
  return contentType !== undefined && jsonInUtf8.test(contentType.trim());
}

/** Reads the timeout that the API server states: `?timeout=10s`. Undefined when it is not a positive duration. */
function timeoutOf(url: string, maxMs: number): number | undefined {
  const start = url.indexOf('?');
  if (start === -1) return maxMs;
  const values = new URLSearchParams(url.slice(start + 1)).getAll('timeout');
  const [value] = values;
  if (value === undefined) return maxMs;
  const milliseconds = values.length === 1 ? parseGoDuration(value) : undefined;
  return milliseconds === undefined || milliseconds === 0 ? undefined : Math.min(milliseconds, maxMs);
}

type Received =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly refusal: HttpRefusal }
  /** The client disconnected, so there is no answer to send. */
  | { readonly kind: 'gone' };

/**
 * Returns a body that has arrived together with its head, as nearly every body does. Waiting for the events of a stream
 * would take 5 % of the time of an answer. The caller lets one turn of the microtasks pass after the head: then Node has read
 * the rest of the same packet.
 */
export function arrivedBody(
  request: IncomingMessage,
  contentLength: number | undefined,
  lease: ByteLease,
): Received | undefined {
  if (request.readableLength === 0 || request.readableLength !== contentLength) return undefined;
  if (!lease.take(contentLength)) return { kind: 'refused', refusal: tooManyBytes };
  const bytes: unknown = request.read();
  // Node frees a request only after its end, and notices the end only while something reads.
  request.resume();
  return Buffer.isBuffer(bytes) ? { kind: 'body', bytes } : undefined;
}

export function readReviewBody(
  request: IncomingMessage,
  lease: ByteLease,
  maxBytes: number,
  deadline: Deadline,
): Promise<Received> {
  const { promise, resolve } = Promise.withResolvers<Received>();
  const chunks: Buffer[] = [];
  const refuse = (refusal: HttpRefusal): void => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', onGone);
    resolve({ kind: 'refused', refusal });
  };
  const onData = (chunk: Buffer): void => {
    if (lease.held + chunk.length > maxBytes) refuse(bodyTooLarge);
    else if (lease.take(chunk.length)) chunks.push(chunk);
    else refuse(tooManyBytes);
  };
  const onEnd = (): void => {
    clearTimeout(timer);
    resolve({ kind: 'body', bytes: joined(chunks) });
  };
  // Follows 'end' too, and then changes nothing.
  const onGone = (): void => {
    clearTimeout(timer);
    resolve({ kind: 'gone' });
  };
  const timer = setTimeout(refuse, deadline.remaining, timedOut);
  // An interrupted request emits an error before it closes. Without a listener, that error would end the process.
  request.on('error', ignore).on('data', onData).on('end', onEnd).on('close', onGone);
  return promise;
}

/** A typical review arrives in one chunk, which needs no copy. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

function ignore(): void {
  // 'close' follows.
}

// Limits the bytes of all bodies in memory, because many large reviews could exhaust the memory of the process.

export class ByteBudget {
  readonly #total: number;
  #used = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Returns whether that many bytes fit now. Nothing is reserved, because Content-Length is only a claim of the client. */
  hasRoomFor(bytes: number): boolean {
    return this.#used + bytes <= this.#total;
  }

  /** Opens the lease of one request. */
  open(): ByteLease {
    return new ByteLease(this);
  }

  take(bytes: number): boolean {
    if (!this.hasRoomFor(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#used -= bytes;
  }
}

/** The bytes that one request holds. */
export class ByteLease {
  readonly #budget: ByteBudget;
  #held = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get held(): number {
    return this.#held;
  }

  take(bytes: number): boolean {
    if (!this.#budget.take(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  close(): void {
    this.#budget.giveBack(this.#held);
    this.#held = 0;
  }
}
