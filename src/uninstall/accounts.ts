// Removes the fields that policies added to ServiceAccounts of other owners, or leaves these fields in place.
import { observeAccount, type ObservedAccount } from '../policy/plan/account.ts';
import { planAccount, type FieldsFate } from '../policy/plan/plan-account.ts';
import { serviceAccountType } from '../base/object-type.ts';
import type { ProviderState } from '../policy/terms/provider-id.ts';
import { applyFields } from '../reconcile/namespace/object-writes.ts';
import type { ContentsRemoval } from './contents.ts';
import type { Facts } from './facts.ts';
import {
  clearInRounds,
  inParallel,
  isNotFound,
  nameOfRef,
  textOfError,
  type NotDone,
  type Round,
} from './removal.ts';

const atOnce = 16;

export async function clearAccounts(removal: ContentsRemoval): Promise<NotDone> {
  return await clearInRounds(() => clearOnce(removal), removal.patienceMs);
}

async function clearOnce(removal: ContentsRemoval): Promise<Round> {
  const facts = await factsOf(removal);
  if (typeof facts === 'string') return { found: Number.POSITIVE_INFINITY, notDone: [facts] };
  const { accounts } = facts;
  const results = await inParallel(accounts, atOnce, (account) => clear(account, facts, removal));
  const notDone = accounts.map((live, index) => results[index] ?? `${nameOfAccount(live)} gets fields again`);
  return { found: accounts.length, notDone };
}

async function factsOf({ facts }: Pick<ContentsRemoval, 'facts'>): Promise<Facts | string> {
  try {
    return await facts();
  } catch (error) {
    return `ServiceAccounts with fields of policies could not be listed: ${textOfError(error)}`;
  }
}

async function clear(
  live: ObservedAccount,
  { providers }: Facts,
  { writer, say, keepContents }: ContentsRemoval,
): Promise<string | undefined> {
  const states = new Map(providers.map((state) => [state.id, state]));
  const fates = new Set<FieldsFate>();
  const { step } = planAccount({
    live,
    claims: [],
    whole: undefined,
    providers: () => [...states.keys()],
    freezeOf: () => undefined,
    fateOf: (provider) => {
      const fate = fateOf(states.get(provider), keepContents);
      fates.add(fate);
      return fate;
    },
  });
  const name = nameOfAccount(live);
  try {
    if (step !== undefined)
      await applyFields(step, async (object, manager) =>
        observeAccount(await writer.apply(object, { force: true, manager })),
      );
    say(`${fates.has('removed') ? 'took fields back from' : 'kept the fields of'} ${name}`);
    return undefined;
  } catch (error) {
    return isNotFound(error) ? undefined : `${name}: ${textOfError(error)}`;
  }
}

function nameOfAccount(live: ObservedAccount): string {
  return nameOfRef({ ...serviceAccountType, ...live });
}

/** An uninstall removes the fields of a provider whose objects it deletes. */
function fateOf(state: ProviderState | undefined, keepContents: boolean): FieldsFate {
  if (keepContents || state === undefined) return 'released';
  const stays = state.deletionPolicy === 'Orphan' || state.isSuspended || !state.isValid;
  return stays ? 'released' : 'removed';
}
