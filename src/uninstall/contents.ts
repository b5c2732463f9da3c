// Deletes or releases what policies and shares have provided, then lets the policies and shares themselves go.
import type { ObjectRef } from '../base/kube-object.ts';
import {
  apiVersion,
  appliedAnnotation,
  cleanupFinalizer,
  managedByLabel,
  ownerAnnotation,
} from '../api/names.ts';
import type { Observed } from '../policy/plan/observed.ts';
import { kindOfProvider, nameOfProvider, type ProviderState } from '../policy/terms/provider-id.ts';
import { systemClock } from '../base/clock.ts';
import type { Facts } from './facts.ts';
import { inParallel } from './in-parallel.ts';
import { planContents, type ContentsPlan, type ProviderPlan } from './plan.ts';
import { isGone, nameOfRef, wordsOf, type Demolition, type Problems } from './removal.ts';

export interface ContentsDemolition extends Demolition {
  readonly facts: () => Promise<Facts>;
  readonly keepContents: boolean;
}

interface Task {
  readonly fate: ProviderPlan['fate'];
  readonly live: Observed;
}

const atOnce = 16;
const againMs = 500;

/**
 * Looks again until there is nothing left to do: API servers learn a moment later that the guard is gone, and what Reeve
 * had under way may come after the first look.
 */
export async function clearContents(demolition: ContentsDemolition): Promise<Problems> {
  const deadline = systemClock.monotonic() + demolition.patienceMs;
  for (;;) {
    const left = await clearWhatIsThere(demolition);
    if (left.length === 0 || systemClock.monotonic() >= deadline) return left;
    await systemClock.sleep(againMs);
  }
}

/** What there was, as problems, because nobody knows yet whether it comes back. */
async function clearWhatIsThere(demolition: ContentsDemolition): Promise<Problems> {
  const facts = await factsOf(demolition);
  if (typeof facts === 'string') return [facts];
  const tasks = tasksOf(planContents(facts, demolition.keepContents));
  const outcomes = await inParallel(tasks, atOnce, (task) => carryOut(task, demolition));
  const problems = outcomes.filter((problem) => problem !== undefined);
  return problems.length > 0 ? problems : tasks.map(({ live }) => `${nameOfRef(refOf(live))} comes back`);
}

/** Or why there are none. */
async function factsOf({ facts }: Pick<ContentsDemolition, 'facts'>): Promise<Facts | string> {
  try {
    return await facts();
  } catch (error) {
    return `policies, shares and what they have provided could not be listed: ${wordsOf(error)}`;
  }
}

/** What is being deleted waits for finalizers of others, and needs nothing more of us. */
function tasksOf({ owners }: ContentsPlan): readonly Task[] {
  return owners.flatMap(({ fate, objects }) =>
    objects.filter((live) => fate === 'release' || !live.isTerminating).map((live) => ({ fate, live })),
  );
}

async function carryOut({ fate, live }: Task, { writer, say }: Demolition): Promise<string | undefined> {
  const ref = refOf(live);
  const { uid } = live;
  try {
    if (fate === 'delete') await writer.remove(ref, { uid });
    else await writer.mergePatch(ref, withoutMark(uid));
    say(`${fate === 'delete' ? 'deleted' : 'kept, and no longer marked:'} ${nameOfRef(ref)}`);
    return undefined;
  } catch (error) {
    return isGone(error) ? undefined : `${nameOfRef(ref)}: ${wordsOf(error)}`;
  }
}

/** Of that very object: another of the name may be somebody else's. */
function withoutMark(uid: string) {
  return {
    metadata: {
      uid,
      labels: { [managedByLabel]: null },
      annotations: { [ownerAnnotation]: null, [appliedAnnotation]: null },
    },
  };
}

/** Call it when nothing is there that they have provided. */
export async function removeProviders({
  facts,
  writer,
  say,
  ...rest
}: ContentsDemolition): Promise<Problems> {
  const found = await factsOf({ facts });
  if (typeof found === 'string') return [found];
  const { owners } = found;
  const outcomes = await inParallel(owners, atOnce, (owner) =>
    removeProvider(owner, { writer, say, ...rest }),
  );
  return outcomes.filter((problem) => problem !== undefined);
}

async function removeProvider(
  { id, uid }: ProviderState,
  { writer, say }: Demolition,
): Promise<string | undefined> {
  const ref = { apiVersion, kind: kindOfProvider(id), name: nameOfProvider(id) };
  try {
    // In this order: nobody can put a finalizer on what is being deleted.
    await writer.remove(ref, { uid });
    const object = await writer.read(ref);
    if (object !== undefined) await writer.mergePatch(ref, withoutFinalizer(object.metadata));
    say(`deleted ${nameOfRef(ref)}`);
    return undefined;
  } catch (error) {
    return isGone(error) ? undefined : `${nameOfRef(ref)}: ${wordsOf(error)}`;
  }
}

/** Those of others stay: they know what for. */
function withoutFinalizer({ resourceVersion, finalizers }: Readonly<Record<string, unknown>>) {
  const all: readonly unknown[] = Array.isArray(finalizers) ? finalizers : [];
  return { metadata: { resourceVersion, finalizers: all.filter((each) => each !== cleanupFinalizer) } };
}

function refOf({ type, namespace, name }: Observed): ObjectRef {
  return { ...type, namespace, name };
}
