// Decides for each object that providers have created: it is deleted, or it stays without Reeve's label.
import { judgeFuse } from '../policy/plan/fuse.ts';
import type { Observed } from '../policy/plan/observed.ts';
import type { ProviderId, ProviderState } from '../policy/terms/provider-id.ts';
import type { Facts } from './facts.ts';

export interface ProviderPlan {
  readonly provider: ProviderId;
  /** `give-back`: the objects existed before Reeve, and only lose what Reeve set. */
  readonly fate: 'delete' | 'release' | 'give-back';
  /** Why the objects stay; empty where they are deleted. */
  readonly reason: string;
  readonly objects: readonly Observed[];
}

export interface ContentsPlan {
  readonly providers: readonly ProviderPlan[];
  /** The number of ServiceAccounts of other owners to which policies have added fields. */
  readonly accounts: number;
  /** Objects with the label that name no policy or share: a stranger's. */
  readonly foreign: readonly Observed[];
}

/** The administrator confirms the number in the plan, so `maxDeletions` of a policy does not count. */
export function planContents({ providers, marked, accounts }: Facts, keepContents: boolean): ContentsPlan {
  const states = new Map(providers.map((state) => [state.id, state]));
  const byProvider = Map.groupBy(marked, ({ owner }) => owner);
  const plans: ProviderPlan[] = [];
  for (const [provider, objects] of byProvider)
    if (provider !== undefined)
      plans.push(...planProvider(provider, states.get(provider), objects, keepContents));
  return {
    providers: plans.toSorted((a, b) => (a.provider < b.provider ? -1 : 1)),
    accounts: accounts.length,
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
  const [own, adopted] = [true, false].map((isOwn) =>
    objects.filter(({ isDeletable }) => isDeletable === isOwn),
  );
  const plans: readonly ProviderPlan[] = [
    { provider, fate: 'delete', reason: '', objects: own ?? [] },
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
