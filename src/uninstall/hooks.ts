// Removes the webhook configurations so that nobody is asked any more, even where somebody keeps them from going.
import type { ObjectRef } from '../base/kube-object.ts';
import { inParallel } from './in-parallel.ts';
import { isGone, nameOfRef, remove, wordsOf, type Demolition, type Problems } from './removal.ts';

const atOnce = 2;

/** Empties them first: one with a finalizer of others stays, and API servers go on asking whom it names. */
export async function removeHooks(refs: readonly ObjectRef[], demolition: Demolition): Promise<Problems> {
  const outcomes = await inParallel(refs, atOnce, (ref) => empty(ref, demolition));
  const problems = await remove(refs, demolition);
  // Of what is gone, it does not matter.
  return problems.length === 0 ? [] : [...outcomes.filter((outcome) => outcome !== undefined), ...problems];
}

async function empty(ref: ObjectRef, { writer, say }: Demolition): Promise<string | undefined> {
  try {
    await writer.mergePatch(ref, { webhooks: [] });
    say(`emptied ${nameOfRef(ref)}`);
    return undefined;
  } catch (error) {
    return isGone(error) ? undefined : `${nameOfRef(ref)} was not emptied: ${wordsOf(error)}`;
  }
}
