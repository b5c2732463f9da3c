// What every explanation is made of: a state that is fed to the planning parts of the reconciler, and who may do what.
import type { InstallRole, RightsPurpose } from '../../policy/authors/own-rights.ts';
import type { Requester } from '../../rules/rule.ts';
import type { AccessAnswer, Right } from '../../policy/terms/verdict.ts';
import type { ObjectType } from '../../policy/terms/object-key.ts';
import { compareProviders, providerKinds } from '../../policy/terms/provider-id.ts';
import type { LoadedProvider } from '../../state/stored-provider.ts';
import type { StoredAccess } from '../input/access.ts';
import type { PlannedState } from '../plan/planned-state.ts';

type AskedRight = Pick<Right, 'verb' | 'group' | 'resource' | 'name' | 'namespace'>;

export interface LookedAt extends PlannedState {
  readonly access: StoredAccess;
  /** Asks the API server where there is one, and otherwise reads stored roles. */
  readonly mayDo: (user: Requester, right: AskedRight) => Promise<AccessAnswer>;
  /** Where the install holds the rules of Reeve's own account. */
  readonly whereToAdd: (purpose: RightsPurpose) => InstallRole;
  readonly now: Date;
}

/** A kind of provider that could not be read: there may be more of them. */
export function unreadProviders({ state }: LookedAt): string | undefined {
  const unread = state.unread.find(({ kind }) => providerKinds.some((each) => each === kind));
  return unread === undefined ? undefined : `${unread.kind} could not be read: ${unread.reason}`;
}

/** The kinds that the install allows, and those that policies want all the same. */
export function providedTypes({ state, cluster }: LookedAt): readonly ObjectType[] {
  const policies = cluster.snapshot().policies.policies;
  return [
    ...state.install.allowedKinds,
    ...policies.flatMap(({ contents }) => contents.map(({ type }) => type)),
  ];
}

/** By kind and name. */
export function sortedProviders({ cluster }: LookedAt): readonly LoadedProvider[] {
  return [...cluster.providers()].toSorted((a, b) => compareProviders(a.state.id, b.state.id));
}
