// Lists collections once, for commands that look at a cluster and end.
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject } from '../base/metadata.ts';
import type { KubeClient } from './http/client.ts';
import { listAll } from './watch/list-pages.ts';
import type { WatchTarget } from './watch/watch-target.ts';

export interface ReadTarget extends WatchTarget {
  readonly apiVersion: string;
  readonly kind: string;
}

/** `absent`: the API server does not serve the kind, or stores no objects of it. `unread`: the API server refuses the list. */
export type ReadCollection =
  | { readonly outcome: 'read'; readonly target: ReadTarget; readonly objects: readonly KubeObject[] }
  | { readonly outcome: 'absent'; readonly target: ReadTarget }
  | { readonly outcome: 'unread'; readonly target: ReadTarget; readonly reason: string };

const pageSize = 500;
const notServed = 404;
/** The answer of the sandbox for Deployments and other kinds that it does not store. */
const notStored = 501;
const forbidden = 403;
const unknownAccount = 401;

interface ReadOnceOptions {
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Called with the number of objects of each page of any collection. */
  readonly onPage?: (objects: number) => void;
}

/** In the order of the targets. Rejects with a KubeError if the API server does not answer. */
export async function readCollections(
  client: KubeClient,
  targets: readonly ReadTarget[],
  { concurrency, signal, onPage = () => undefined }: ReadOnceOptions,
): Promise<readonly ReadCollection[]> {
  const results = new Map<ReadTarget, ReadCollection>();
  const waiting = [...targets];
  const work = async (): Promise<void> => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift())
      results.set(target, await readOne(client, target, { page: pageSize, signal, onPage }));
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return targets.flatMap((target) => results.get(target) ?? []);
}

async function readOne(
  client: KubeClient,
  target: ReadTarget,
  options: Parameters<typeof listAll>[2],
): Promise<ReadCollection> {
  try {
    const { objects } = await listAll(client, target, options);
    const { apiVersion, kind } = target;
    // Metadata comes with a kind of its own.
    return { outcome: 'read', target, objects: objects.map((object) => ({ ...object, apiVersion, kind })) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === notServed || error.code === notStored) return { outcome: 'absent', target };
    return { outcome: 'unread', target, reason: unreadReason(error) };
  }
}

/** Throws the error again if no request of this account would be answered. */
export function unreadReason(error: unknown): string {
  if (!(error instanceof KubeError) || error.code === 0 || error.code === unknownAccount) throw error;
  return error.code === forbidden ? 'this account may not read it' : error.message;
}
