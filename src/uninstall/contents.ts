// Deletes or releases the objects that providers have created, then deletes the providers.
import type { ObjectRef } from '../base/metadata.ts';
import { cleanupFinalizer } from '../schema/names.ts';
import type { Observed } from '../policy/plan/observed.ts';
import { orphanMetadata } from '../policy/plan/remainder.ts';
import { giveBack } from '../reconcile/namespace/give-back.ts';
import { providerRef, type ProviderState, type ProviderId } from '../policy/terms/provider-id.ts';
import type { Facts } from './facts.ts';
import {
  clearInRounds,
  inParallel,
  isNotFound,
  nameOfRef,
  textOfError,
  type NotDone,
  type Removal,
  type Round,
} from './removal.ts';
import { judgeFuse } from '../policy/plan/fuse.ts';

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

export async function clearContents(removal: ContentsRemoval): Promise<NotDone> {
  return await clearInRounds(() => clearOnce(removal), removal.patienceMs);
}

async function clearOnce(removal: ContentsRemoval): Promise<Round> {
  const facts = await factsOf(removal);
  if (typeof facts === 'string') return { found: Number.POSITIVE_INFINITY, notDone: [facts] };
  const tasks = tasksOf(planContents(facts, removal.keepContents));
  const results = await inParallel(tasks, atOnce, (task) => carryOut(task, removal));
  // The next round must see that a deleted object does not appear again.
  const notDone = tasks.map(({ live }, index) => results[index] ?? `${nameOfRef(refOf(live))} comes back`);
  return { found: tasks.length, notDone };
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
    else if (fate === 'give-back') await giveBack(writer, live);
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

/** Deletes the providers. Call this function when none of their objects is left. */
export async function removeProviders({ facts, writer, say, ...rest }: ContentsRemoval): Promise<NotDone> {
  const found = await factsOf({ facts });
  if (typeof found === 'string') return [found];
  const { providers } = found;
  const notDone = await inParallel(providers, atOnce, (provider) =>
    removeProvider(provider, { writer, say, ...rest }),
  );
  return notDone.filter((each) => each !== undefined);
}

async function removeProvider(
  { id, uid }: ProviderState,
  { writer, say }: Removal,
): Promise<string | undefined> {
  const ref = providerRef(id);
  try {
    // The deletion comes first, because an object that is being deleted takes no new finalizers.
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
export function withoutFinalizer({ resourceVersion, finalizers }: Readonly<Record<string, unknown>>) {
  const all: readonly unknown[] = Array.isArray(finalizers) ? finalizers : [];
  return { metadata: { resourceVersion, finalizers: all.filter((each) => each !== cleanupFinalizer) } };
}

function refOf({ type, namespace, name }: Observed): ObjectRef {
  return { ...type, namespace, name };
}

// Decides the fate of each object that providers have created: deletion, or release without Reeve's label.

export interface ProviderPlan {
  readonly provider: ProviderId;
  /** `give-back`: the objects existed before Reeve, and lose only the fields that Reeve set. */
  readonly fate: 'delete' | 'release' | 'give-back';
  /** Why the objects stay; empty where they are deleted. */
  readonly reason: string;
  readonly objects: readonly Observed[];
}

export interface ContentsPlan {
  readonly providers: readonly ProviderPlan[];
  /** The number of ServiceAccounts of other owners to which policies have added fields. */
  readonly accounts: number;
  /** The number of RoleBindings of temporary access. */
  readonly grants: number;
  /** Objects with the label that name no policy or share: a stranger's. */
  readonly foreign: readonly Observed[];
}

/** The administrator confirms the number in the plan, so `maxDeletions` of a policy does not count. */
export function planContents(
  { providers, marked, accounts, grants }: Facts,
  keepContents: boolean,
): ContentsPlan {
  const states = new Map(providers.map((state) => [state.id, state]));
  const byProvider = Map.groupBy(marked, ({ owner }) => owner);
  const plans: ProviderPlan[] = [];
  for (const [provider, objects] of byProvider)
    if (provider !== undefined)
      plans.push(...planProvider(provider, states.get(provider), objects, keepContents));
  return {
    providers: plans.toSorted((a, b) => (a.provider < b.provider ? -1 : 1)),
    accounts: accounts.length,
    grants: grants.length,
    foreign: byProvider.get(undefined) ?? [],
  };
}

/** The number of objects that are deleted, or that stay. */
export function countOf({ providers }: ContentsPlan, end: 'deleted' | 'kept'): number {
  return providers
    .filter(({ fate }) => (fate === 'delete') === (end === 'deleted'))
    .reduce((sum, { objects }) => sum + objects.length, 0);
}

// oxlint-disable-next-line max-params -- the parts of one row of the plan
function planProvider(
  provider: ProviderId,
  state: ProviderState | undefined,
  objects: readonly Observed[],
  keepContents: boolean,
): readonly ProviderPlan[] {
  if (keepContents) return [{ provider, fate: 'release', reason: '--keep-contents', objects }];
  // The verdict of the reconciler for a provider that is deleted with this number confirmed.
  const confirmation = String(objects.length);
  const deleted = state === undefined ? undefined : { ...state, isDeleting: true, confirmation };
  const verdict = judgeFuse(deleted, objects.length, false);
  if (verdict.kind !== 'delete') return [{ provider, fate: 'release', reason: reasonOf(state), objects }];
  const [once, kept] = [true, false].map((isOnce) =>
    objects.filter(({ isCreatedOnce }) => isCreatedOnce === isOnce),
  );
  const [own, adopted] = [true, false].map((isOwn) =>
    (kept ?? []).filter(({ isDeletable }) => isDeletable === isOwn),
  );
  const plans: readonly ProviderPlan[] = [
    { provider, fate: 'delete', reason: '', objects: own ?? [] },
    { provider, fate: 'release', reason: 'created once, so it stays', objects: once ?? [] },
    {
      provider,
      fate: 'give-back',
      reason: 'adopted, so it only loses what Reeve set',
      objects: adopted ?? [],
    },
  ];
  return plans.filter(({ objects: each }) => each.length > 0);
}

function reasonOf(state: ProviderState | undefined): string {
  if (state === undefined) return 'it no longer exists';
  if (state.deletionPolicy === 'Orphan') return 'deletionPolicy: Orphan';
  return state.isSuspended ? 'it is suspended' : 'it does not load';
}
