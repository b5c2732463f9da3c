// Sends one HTTP request and reads its answer; errors of the network become KubeErrors here.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import { errorCode } from '../../base/error-code.ts';
import { KubeError } from '../../base/kube-error.ts';
import { kubeErrorOf, noAnswer } from './answers.ts';

/** `stale`: the server had closed the kept-alive connection before it saw the request. */
export type Exchange =
  | { readonly kind: 'answer'; readonly response: IncomingMessage }
  | { readonly kind: 'stale'; readonly error: KubeError };

/** Connections that were used before. Node marks only some of them as reused. */
export type UsedSockets = WeakSet<Socket>;

/** Resolves when the head of the answer has arrived. The signal also aborts the body later. */
export async function exchange(
  options: RequestOptions,
  body: string | undefined,
  used: UsedSockets,
  signal: AbortSignal,
): Promise<Exchange> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  const call = begin(options);
  let isReused = false;
  call.on('socket', (socket) => {
    isReused = used.has(socket);
    used.add(socket);
  });
  call.on('response', (response) => resolve({ kind: 'answer', response }));
  call.on('error', (cause) => {
    const error = kubeErrorOf(cause);
    if (isReused && ['ECONNRESET', 'EPIPE'].includes(error.reason)) resolve({ kind: 'stale', error });
    else reject(error);
  });
  signal.addEventListener('abort', () => {
    reject(signal.reason);
    call.destroy();
  });
  call.end(body);
  return await promise;
}

/** Node throws at once for a header or a path that HTTP does not allow. */
function begin(options: RequestOptions): ClientRequest {
  try {
    return httpsRequest(options);
  } catch (error) {
    throw new KubeError({ code: 0, reason: errorCode(error) ?? 'Unknown', retryable: false });
  }
}

/** Returns the whole body; undefined when it is longer than `maxBytes`. */
export async function readAnswerBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer> | undefined>();
  const chunks: Buffer[] = [];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length <= maxBytes) return;
    chunks.length = 0;
    resolve(undefined);
    response.destroy();
  });
  response.on('end', () => resolve(Buffer.concat(chunks)));
  response.on('error', (error) => reject(kubeErrorOf(error)));
  // Every answer ends with this event. An error with its stack for each was 2 % of a burst.
  response.on('close', () => {
    if (!response.readableEnded) reject(noAnswer('ConnectionClosed'));
  });
  return await promise;
}

/** Yields the bytes as they arrive. A reader that stops closes the connection. */
export async function* chunksOf(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) {
      if (chunk instanceof Uint8Array) yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw kubeErrorOf(error);
  }
  signal.throwIfAborted();
}
