// Reads the body of a request within a size, a time, and what the whole server may hold at once.
import type { IncomingMessage } from 'node:http';
import type { ByteLease } from './byte-budget.ts';
import type { Deadline } from './deadline.ts';
import { bodyTooLarge, timedOut, tooManyBytes } from './http-refusal.ts';
import type { HttpRefusal } from './http-refusal.ts';

type Received =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly refusal: HttpRefusal }
  /** The client went away: there is nobody to answer. */
  | { readonly kind: 'gone' };

export function readBody(
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
