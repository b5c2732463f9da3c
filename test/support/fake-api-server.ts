// A KubeClient with answers that a test writes, and objects that behave as on a small API server.
import { KubeError } from '../../src/base/kube-error.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { KubeClient, KubeRequest } from '../../src/kube/http/client.ts';
import type { VirtualClock } from './virtual-clock.ts';

export type Answer =
  | { readonly kind: 'json'; readonly json: JsonObject }
  | { readonly kind: 'error'; readonly error: KubeError }
  /** The answer never comes. */
  | { readonly kind: 'silence' }
  /** The stream stays open until the test ends it, unless its end is given. */
  | { readonly kind: 'stream'; readonly stream: FakeStream };

export function json(value: JsonObject): Answer {
  return { kind: 'json', json: value };
}

export function refusal(code: number, reason: string, more: { retryAfterMs?: number } = {}): Answer {
  return {
    kind: 'error',
    error: new KubeError({ code, reason, retryable: code === 0 || code >= 500 || code === 429, ...more }),
  };
}

export function networkError(reason = 'ECONNRESET'): KubeError {
  return new KubeError({ code: 0, reason, retryable: true });
}

export const silence: Answer = { kind: 'silence' };

/** Sends the chunks one after the other. Then the watch stays open, or ends as `then` says. */
export function stream(
  chunks: readonly (string | Uint8Array)[],
  then: 'open' | 'end' | KubeError = 'open',
): Answer {
  const made = new FakeStream();
  for (const chunk of chunks) made.send(chunk);
  if (then === 'end') made.end();
  else if (then !== 'open') made.fail(then);
  return { kind: 'stream', stream: made };
}

type Item = { readonly chunk: Uint8Array } | { readonly error: Error } | 'end';

/** One answer as a stream of bytes, read in order until the signal aborts. */
export class FakeStream {
  readonly #items: Item[] = [];
  #wake: () => void = () => undefined;

  send(chunk: string | Uint8Array): void {
    this.#push({ chunk: typeof chunk === 'string' ? Buffer.from(chunk) : chunk });
  }

  end(): void {
    this.#push('end');
  }

  fail(error: Error): void {
    this.#push({ error });
  }

  #push(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  async *read(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    signal?.addEventListener('abort', () => this.#wake());
    for (;;) {
      signal?.throwIfAborted();
      const item = this.#items.shift();
      if (item === 'end') return;
      if (item === undefined) await this.#more();
      else if ('error' in item) throw item.error;
      else yield item.chunk;
    }
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }
}

/** Answers a request. `index` is the number of requests before it. */
export type Script = (request: KubeRequest, index: number) => Answer | Promise<Answer>;

/** Times out in virtual time and obeys abort signals, as a real client does. */
export class FakeApiServer implements KubeClient {
  readonly requests: KubeRequest[] = [];
  readonly #script: Script;
  readonly #time: VirtualClock;

  constructor(time: VirtualClock, script: Script) {
    this.#time = time;
    this.#script = script;
  }

  async request(request: KubeRequest): Promise<JsonObject> {
    const answer = await this.#answer(request);
    if (answer.kind === 'json') return answer.json;
    throw new Error('a request was answered with a stream');
  }

  async stream(request: KubeRequest): Promise<AsyncIterable<Uint8Array>> {
    const answer = await this.#answer(request);
    if (answer.kind === 'stream') return answer.stream.read(request.signal);
    throw new Error('a stream was answered with an object');
  }

  close(): void {
    // A fake server has no connections.
  }

  async #answer(request: KubeRequest): Promise<Answer & { kind: 'json' | 'stream' }> {
    const { signal, timeoutMs } = request;
    signal?.throwIfAborted();
    this.requests.push(request);
    const answered = new AbortController();
    try {
      return await Promise.race([
        this.#scripted(request),
        aborted(signal),
        this.#timeout(timeoutMs ?? Infinity, answered.signal),
      ]);
    } finally {
      answered.abort();
    }
  }

  async #scripted(request: KubeRequest): Promise<Answer & { kind: 'json' | 'stream' }> {
    const answer = await this.#script(request, this.requests.length - 1);
    if (answer.kind === 'error') throw answer.error;
    return answer.kind === 'silence' ? await new Promise<never>(() => undefined) : answer;
  }

  async #timeout(milliseconds: number, signal: AbortSignal): Promise<never> {
    await this.#time.sleep(milliseconds, signal);
    throw networkError('ETIMEDOUT');
  }
}

async function aborted(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  return await promise;
}

/** One object under one path. A replacement must have the current resourceVersion, as on the real server. */
export class FakeObject {
  readonly #path: string;
  #version = 0;
  #object: JsonObject | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get spec(): JsonObject {
    return (this.#object?.['spec'] ?? {}) as JsonObject;
  }

  get exists(): boolean {
    return this.#object !== undefined;
  }

  /** Writes the object as another client does. */
  write(object: JsonObject | undefined): void {
    this.#version += 1;
    const metadata = {
      ...(object?.['metadata'] as JsonObject | undefined),
      resourceVersion: String(this.#version),
    };
    this.#object = object === undefined ? undefined : { ...object, metadata };
  }

  answer({ method, path, body }: KubeRequest): Answer {
    const given = body as JsonObject | undefined;
    if (path !== this.#path) return refusal(404, 'NotFound');
    // A server-side apply that sets only the name.
    if (method === 'PATCH') return this.#object === undefined ? this.#stored(given) : json(this.#object);
    if (this.#object === undefined) return refusal(404, 'NotFound');
    if (method === 'GET') return json(this.#object);
    const version = (given?.['metadata'] as JsonObject | undefined)?.['resourceVersion'];
    if (version !== String(this.#version)) return refusal(409, 'Conflict');
    return this.#stored(given);
  }

  #stored(given: JsonObject | undefined): Answer {
    this.write(given);
    return json(this.#object ?? {});
  }
}
