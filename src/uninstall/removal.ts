// Removes objects one by one, whether they are there or not, and says which; what cannot be removed is an answer, not an error.
import { KubeError } from '../base/kube-error.ts';
import type { ObjectRef } from '../base/kube-object.ts';
import type { ObjectWriter } from '../kube/object-writer.ts';
import { systemClock } from '../base/clock.ts';
import { inParallel } from './in-parallel.ts';

export interface Demolition {
  readonly writer: ObjectWriter;
  /** One line of what has been done. */
  readonly say: (line: string) => void;
  /** How long it may take until what is being deleted is gone, in milliseconds. */
  readonly patienceMs: number;
}

const atOnce = 8;
const pollMs = 200;

/** What is in the way of whatever comes next. */
export type Problems = readonly string[];

/** Done when they are gone, the very ones that were there: somebody may make others of their names. */
export async function remove(refs: readonly ObjectRef[], demolition: Demolition): Promise<Problems> {
  const removals = await inParallel(refs, atOnce, (ref) => removeOne(ref, demolition));
  return removals.filter((problem) => problem !== undefined);
}

async function removeOne(
  ref: ObjectRef,
  { writer, say, patienceMs }: Demolition,
): Promise<string | undefined> {
  try {
    const uid = (await writer.read(ref))?.metadata.uid;
    if (uid === undefined) return undefined;
    await writer.remove(ref, { uid });
    const hasGone = async (): Promise<boolean> => (await writer.read(ref))?.metadata.uid !== uid;
    if (!(await inTime(hasGone, patienceMs))) return `${nameOfRef(ref)} is still being deleted`;
    say(`deleted ${nameOfRef(ref)}`);
    return undefined;
  } catch (error) {
    return `${nameOfRef(ref)} was not deleted: ${wordsOf(error)}`;
  }
}

/** Whether it comes about before the patience is at its end. */
export async function inTime(isMet: () => Promise<boolean>, patienceMs: number): Promise<boolean> {
  const deadline = systemClock.monotonic() + patienceMs;
  while (!(await isMet())) {
    if (systemClock.monotonic() >= deadline) return false;
    await systemClock.sleep(pollMs);
  }
  return true;
}

/** `RoleBinding team-a/readers` */
export function nameOfRef({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

export function isGone(error: unknown): boolean {
  return error instanceof KubeError && error.code === 404;
}

/** Throws what is a fault of the program. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof KubeError)) throw error;
  return error.message;
}
