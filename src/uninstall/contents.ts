// Deletes or releases the objects that providers have created, then deletes the providers.
import type { ObjectRef } from '../base/kube-object.ts';
import { cleanupFinalizer } from '../schema/names.ts';
import type { Observed } from '../policy/plan/observed.ts';
import { orphanMetadata } from '../policy/plan/ownership.ts';
import { giveBack } from '../reconcile/namespace/give-back.ts';
import { providerRef, type ProviderState } from '../policy/terms/provider-id.ts';
import type { Facts } from './facts.ts';
import { planContents, type ContentsPlan, type ProviderPlan } from './plan.ts';
import {
  clearInRounds,
  inParallel,
  isNotFound,
  nameOfRef,
  textOfError,
  type Problems,
  type Removal,
  type Round,
} from './removal.ts';

export interface ContentsRemoval extends Removal {
  readonly facts: () => Promise<Facts>;
  readonly keepContents: boolean;
}

interface Task {
  readonly provider: ProviderPlan['provider'];
  readonly fate: ProviderPlan['fate'];
  readonly live: Observed;
}

const atOnce = 16;

export async function clearContents(removal: ContentsRemoval): Promise<Problems> {
  return await clearInRounds(() => clearOnce(removal), removal.patienceMs);
}

async function clearOnce(removal: ContentsRemoval): Promise<Round> {
  const facts = await factsOf(removal);
  if (typeof facts === 'string') return { found: Number.POSITIVE_INFINITY, problems: [facts] };
  const tasks = tasksOf(planContents(facts, removal.keepContents));
  const results = await inParallel(tasks, atOnce, (task) => carryOut(task, removal));
  // The next round must see that a deleted object does not come back.
  const problems = tasks.map(({ live }, index) => results[index] ?? `${nameOfRef(refOf(live))} comes back`);
  return { found: tasks.length, problems };
}

/** Returns the facts, or the reason why they are unknown. */
async function factsOf({ facts }: Pick<ContentsRemoval, 'facts'>): Promise<Facts | string> {
  try {
    return await facts();
  } catch (error) {
    return `policies, shares and what they provided could not be listed: ${textOfError(error)}`;
  }
}

/** Skips objects that are being deleted: they wait for finalizers of others. */
function tasksOf({ providers }: ContentsPlan): readonly Task[] {
  return providers.flatMap(({ provider, fate, objects }) =>
    objects
      .filter((live) => fate !== 'delete' || !live.isTerminating)
      .map((live) => ({ provider, fate, live })),
  );
}

async function carryOut(
  { provider, fate, live }: Task,
  { writer, say }: Removal,
): Promise<string | undefined> {
  const ref = refOf(live);
  const { uid } = live;
  try {
    if (fate === 'delete') await writer.remove(ref, { uid });
    else if (fate === 'give-back') await giveBack(portTo(writer), live);
    // The UID is a precondition: another object of the same name may be a stranger's.
    else await writer.mergePatch(ref, { metadata: { uid, ...orphanMetadata(provider, live) } });
    say(`${done[fate]} ${nameOfRef(ref)}`);
    return undefined;
  } catch (error) {
    return isNotFound(error) ? undefined : `${nameOfRef(ref)}: ${textOfError(error)}`;
  }
}

const done = {
  delete: 'deleted',
  release: 'kept, and no longer marked:',
  'give-back': 'kept without what Reeve set:',
} as const;

function portTo(writer: ContentsRemoval['writer']): Parameters<typeof giveBack>[0] {
  return {
    read: (ref) => writer.read(ref),
    mergePatch: (ref, patch) => writer.mergePatch(ref, patch),
    apply: (object, options) => writer.apply(object, options),
  };
}

/** Call it when none of their objects is left. */
export async function removeProviders({ facts, writer, say, ...rest }: ContentsRemoval): Promise<Problems> {
  const found = await factsOf({ facts });
  if (typeof found === 'string') return [found];
  const { providers } = found;
  const problems = await inParallel(providers, atOnce, (provider) =>
    removeProvider(provider, { writer, say, ...rest }),
  );
  return problems.filter((problem) => problem !== undefined);
}

async function removeProvider(
  { id, uid }: ProviderState,
  { writer, say }: Removal,
): Promise<string | undefined> {
  const ref = providerRef(id);
  try {
    // First the deletion: an object that is being deleted takes no new finalizers.
    await writer.remove(ref, { uid });
    const object = await writer.read(ref);
    if (object !== undefined) await writer.mergePatch(ref, withoutFinalizer(object.metadata));
    say(`deleted ${nameOfRef(ref)}`);
    return undefined;
  } catch (error) {
    return isNotFound(error) ? undefined : `${nameOfRef(ref)}: ${textOfError(error)}`;
  }
}

/** Finalizers of others stay. */
function withoutFinalizer({ resourceVersion, finalizers }: Readonly<Record<string, unknown>>) {
  const all: readonly unknown[] = Array.isArray(finalizers) ? finalizers : [];
  return { metadata: { resourceVersion, finalizers: all.filter((each) => each !== cleanupFinalizer) } };
}

function refOf({ type, namespace, name }: Observed): ObjectRef {
  return { ...type, namespace, name };
}
