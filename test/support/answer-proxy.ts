// Stands in front of an API server and gives wrong, late or no answers to lists, watches and single requests.
import { Transform } from 'node:stream';
import { callbackify } from 'node:util';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { ApiProxy, frontOf, type Exchange, type OwnAnswer } from './api-proxy.ts';

export type Choice = (exchange: Exchange) => boolean;

/** Refuses the chosen requests until it is disposed of. */
export interface Refusing extends Disposable {
  /** The number of requests refused so far. */
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
  /** The number of bytes in which each piece of a watch arrives. */
  #pieceBytes = Infinity;

  /** Holds the chosen requests back until the result is disposed of. Then they continue in their order. */
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

  /** Answers the chosen requests itself, without asking the API server. */
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

  /** Ends the chosen open answers normally, as a server ends a watch. */
  end(which: Choice): void {
    for (const { exchange, body } of this.#open) if (which(exchange)) body.end();
  }

  /** Adds the text to all chosen open answers. */
  say(which: Choice, text: string): void {
    for (const { exchange, body } of this.#open) if (which(exchange)) body.push(text);
  }

  /** Lets watch events arrive a few bytes at a time. */
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

/** Returns true for a list of a collection, in pages or as the beginning of a watch. A read of one object does not count. */
export function isList({ method, path, query }: Exchange): boolean {
  const isPage = query.has('limit') && !query.has('watch');
  return method === 'GET' && (isPage || query.has('sendInitialEvents')) && !path.endsWith('/leases');
}

/** Returns the event with which a watch fails. https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-events */
export function errorEvent(code: number, reason: string): string {
  const object = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason };
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}
