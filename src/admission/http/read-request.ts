// Judges a request by its head alone, so that nothing of a body is read that would be refused anyway.
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
import type { ByteLease } from './byte-budget.ts';
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

/** Without either header there is no body. https://www.rfc-editor.org/rfc/rfc9112#section-6.3 */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (contentLengthOf(request) ?? 0) > 0;
}

/** Node's parser has refused everything but digits already. */
function contentLengthOf({ headers }: IncomingMessage): number | undefined {
  const value = headers['content-length'];
  return value === undefined ? undefined : Number(value);
}

/** A compressed body could be a thousand times larger than it looks, and the API server sends none. */
function isPlain(coding: string | undefined): boolean {
  return coding === undefined || coding.trim().toLowerCase() === 'identity';
}

const jsonInUtf8 = /^application\/json[ \t]*(;[ \t]*charset=("utf-8"|utf-8)[ \t]*)?$/i;

function isJsonInUtf8(contentType: string | undefined): boolean {
  return (
    contentType === 'application/json' || (contentType !== undefined && jsonInUtf8.test(contentType.trim()))
  );
}

const usualTimeout = /^[^?]*\?timeout=([1-9]\d{0,2})s$/;

/** The API server says how long it waits: `?timeout=10s`. Undefined when that is no positive duration. */
function timeoutOf(url: string, longest: number): number | undefined {
  const start = url.indexOf('?');
  if (start === -1) return longest;
  // The form in which the API server says it needs no parsing of a query.
  const [, seconds] = usualTimeout.exec(url) ?? [];
  if (seconds !== undefined) return Math.min(Number(seconds) * 1000, longest);
  const values = new URLSearchParams(url.slice(start + 1)).getAll('timeout');
  const [value] = values;
  if (value === undefined) return longest;
  const milliseconds = values.length === 1 ? parseGoDuration(value) : undefined;
  return milliseconds === undefined || milliseconds === 0 ? undefined : Math.min(milliseconds, longest);
}

type Received =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly refusal: HttpRefusal }
  /** The client went away: there is nobody to answer. */
  | { readonly kind: 'gone' };

export function readReviewBody(
  request: IncomingMessage,
  lease: ByteLease,
  maxBytes: number,
  deadline: Deadline,
): Promise<Received> {
  const { promise, resolve } = Promise.withResolvers<Received>();
  const chunks: Buffer[] = [];
  const finish = (received: Received): void => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', onGone);
    resolve(received);
  };
  const onData = (chunk: Buffer): void => {
    if (lease.held + chunk.length > maxBytes) finish({ kind: 'refused', refusal: bodyTooLarge });
    else if (lease.take(chunk.length)) chunks.push(chunk);
    else finish({ kind: 'refused', refusal: tooManyBytes });
  };
  const onEnd = (): void => finish({ kind: 'body', bytes: joined(chunks) });
  const onGone = (): void => finish({ kind: 'gone' });
  const timer = setTimeout(() => finish({ kind: 'refused', refusal: timedOut }), deadline.remaining);
  // A request that was cut off emits an error before it closes; without a listener that would end the process.
  request.on('error', ignore).on('data', onData).on('end', onEnd).on('close', onGone);
  return promise;
}

/** The usual review arrives in one piece, which needs no copy. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

function ignore(): void {
  // 'close' follows.
}
