// Stands before an API server and gives wrong, late or no answers in its name: to lists, to watches, to single requests.
import { Transform } from 'node:stream';
import { callbackify } from 'node:util';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { ApiProxy, frontOf, type Exchange, type OwnAnswer } from './api-proxy.ts';

export type Choice = (exchange: Exchange) => boolean;

/** Until it is disposed of. */
export interface Refusing extends Disposable {
  /** How often it has happened. */
  readonly count: number;
}

interface OpenAnswer {
  readonly exchange: Exchange;
  readonly body: Transform;
}

export class AnswerProxy extends ApiProxy {
  readonly #open = new Set<OpenAnswer>();
  readonly #holds = new Map<Choice, Promise<void>>();
  readonly #refusals = new Map<Choice, () => OwnAnswer>();
  /** In how many bytes at a time a watch arrives. */
  #pieceBytes = Infinity;

  /** Nothing of it is asked or answered until that is disposed of; then all goes on its way in its order. */
  hold(which: Choice): Disposable {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#holds.set(which, promise);
    return {
      [Symbol.dispose]: () => {
        this.#holds.delete(which);
        resolve();
      },
    };
  }

  /** It is not asked; this is the answer. */
  refuse(which: Choice, answer: OwnAnswer): Refusing {
    let count = 0;
    this.#refusals.set(which, () => {
      count += 1;
      return answer;
    });
    return {
      get count() {
        return count;
      },
      [Symbol.dispose]: () => void this.#refusals.delete(which),
    };
  }

  /** Ends those that are being answered, as a server does that has nothing more to say. */
  end(which: Choice): void {
    for (const { exchange, body } of this.#open) if (which(exchange)) body.end();
  }

  /** Says this in all that are being answered. */
  say(which: Choice, text: string): void {
    for (const { exchange, body } of this.#open) if (which(exchange)) body.push(text);
  }

  /** What watches say arrives a few bytes at a time. */
  cutIntoPieces(bytes: number): void {
    this.#pieceBytes = bytes;
  }

  protected override async asked(exchange: Exchange): Promise<OwnAnswer | undefined> {
    await this.#released(exchange);
    for (const [which, answer] of this.#refusals) if (which(exchange)) return answer();
    return undefined;
  }

  protected override filter(exchange: Exchange): Transform {
    const pass = async (chunk: Buffer): Promise<void> => {
      await this.#released(exchange);
      for (const piece of this.#piecesOf(chunk, exchange)) body.push(piece);
    };
    const body = new Transform({
      transform: (chunk: Buffer, _encoding, done) => callbackify(pass)(chunk, done),
    });
    const open = { exchange, body };
    this.#open.add(open);
    body.once('close', () => this.#open.delete(open));
    return body;
  }

  async #released(exchange: Exchange): Promise<void> {
    for (const [which, over] of this.#holds) if (which(exchange)) await over;
  }

  *#piecesOf(chunk: Buffer, exchange: Exchange): Generator<Buffer> {
    const bytes = isWatch(exchange) ? Math.min(this.#pieceBytes, chunk.length) : chunk.length;
    for (let from = 0; from < chunk.length; from += bytes) yield chunk.subarray(from, from + bytes);
  }
}

export async function startAnswerProxy(cluster: ClusterAccess): Promise<AnswerProxy> {
  return new AnswerProxy(await frontOf(cluster));
}

export function isWatch({ query }: Exchange): boolean {
  return query.get('watch') === 'true';
}

/** True for a whole collection in all namespaces; single objects do not count. */
export function isList({ method, path, query }: Exchange): boolean {
  return method === 'GET' && query.has('limit') && !query.has('watch') && !path.endsWith('/leases');
}

/** What a watch says when it fails. https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-events */
export function errorEvent(code: number, reason: string): string {
  const object = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason };
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}
