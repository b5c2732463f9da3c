// Deletes objects one by one, present or not, and reports each. An object that stays is reported, and never thrown.
import { systemClock, type Clock } from '../base/clock.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/metadata.ts';
import type { KubeClient } from '../kube/http/client.ts';
import type { ObjectWriter } from '../base/object-writer.ts';
import { listAll } from '../kube/watch/list-pages.ts';
import type { WatchTarget } from '../kube/watch/watch-target.ts';

export interface Removal {
  readonly writer: ObjectWriter;
  /** Prints one line for each change. */
  readonly say: (line: string) => void;
  /** How long a deletion may take, in milliseconds. */
  readonly patienceMs: number;
}

const atOnce = 8;
const pollMs = 200;

/** A line for each object that the step could not change. */
export type NotDone = readonly string[];

/** Waits until exactly these objects are deleted, because another object of the same name may appear. */
export async function remove(refs: readonly ObjectRef[], removal: Removal): Promise<NotDone> {
  const notDone = await inParallel(refs, atOnce, (ref) => removeOne(ref, removal));
  return notDone.filter((each) => each !== undefined);
}

async function removeOne(ref: ObjectRef, { writer, say, patienceMs }: Removal): Promise<string | undefined> {
  try {
    const uid = (await writer.read(ref))?.metadata.uid;
    if (uid === undefined) return undefined;
    await writer.remove(ref, { uid });
    const isDeleted = async (): Promise<boolean> => (await writer.read(ref))?.metadata.uid !== uid;
    if (!(await inTime(isDeleted, patienceMs))) return `${nameOfRef(ref)} is still being deleted`;
    say(`deleted ${nameOfRef(ref)}`);
    return undefined;
  } catch (error) {
    return `${nameOfRef(ref)} was not deleted: ${textOfError(error)}`;
  }
}

/** Returns false when the condition is not met in time. */
export async function inTime(isMet: () => Promise<boolean>, patienceMs: number): Promise<boolean> {
  const deadline = systemClock.monotonic() + patienceMs;
  while (!(await isMet())) {
    if (systemClock.monotonic() >= deadline) return false;
    await systemClock.sleep(pollMs);
  }
  return true;
}

/** One look at what is left, and one attempt to clear it. */
export interface Round {
  /** How many objects there were to clear. */
  readonly found: number;
  /** One line for each object of this round that may be there again. */
  readonly notDone: NotDone;
}

const nextRoundMs = 500;

/**
 * Repeats until a round finds nothing: API servers learn of the deleted guard with a delay, and a last write of Reeve may
 * arrive after the first round. A round may take longer than `patienceMs`, so only rounds count that find no fewer
 * objects than the rounds before.
 */
export async function clearInRounds(
  round: () => Promise<Round>,
  patienceMs: number,
  clock: Pick<Clock, 'monotonic' | 'sleep'> = systemClock,
): Promise<NotDone> {
  let fewest = Number.POSITIVE_INFINITY;
  let deadline = clock.monotonic() + patienceMs;
  for (;;) {
    const { found, notDone } = await round();
    if (notDone.length === 0) return [];
    if (found < fewest) deadline = clock.monotonic() + patienceMs;
    else if (clock.monotonic() >= deadline) return notDone;
    fewest = Math.min(fewest, found);
    await clock.sleep(nextRoundMs);
  }
}

/** Runs `work` for every item, at most `limit` at a time. The results have the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/** Lists a whole collection. Empty for a kind that is not served. Rejects with a KubeError. */
export async function listObjects(client: KubeClient, target: WatchTarget): Promise<readonly KubeObject[]> {
  const { signal } = new AbortController();
  try {
    return (await listAll(client, target, { page: 500, signal, onPage: () => undefined })).objects;
  } catch (error) {
    if (error instanceof KubeError && error.code === 404) return [];
    throw error;
  }
}

/** Example: `RoleBinding team-a/readers`. */
export function nameOfRef({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof KubeError && error.code === 404;
}

/** Throws an error of the program itself. */
export function textOfError(error: unknown): string {
  if (!(error instanceof KubeError)) throw error;
  return error.message;
}
