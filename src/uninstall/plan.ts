// Decides for each object that policies and shares provided: it is deleted, or it stays without Reeve's label.
import { judgeFuse } from '../policy/plan/fuse.ts';
import type { Observed } from '../policy/plan/observed.ts';
import type { ProviderId, ProviderState } from '../policy/terms/provider-id.ts';
import type { Facts } from './facts.ts';

export interface ProviderPlan {
  readonly owner: ProviderId;
  readonly fate: 'delete' | 'release';
  /** Why the objects stay; empty where they are deleted. */
  readonly reason: string;
  readonly objects: readonly Observed[];
}

export interface ContentsPlan {
  readonly owners: readonly ProviderPlan[];
  /** Objects with the label that name no policy or share: a stranger's. */
  readonly foreign: readonly Observed[];
}

/** The administrator confirms the number in the plan, so `maxDeletions` of a policy does not count. */
export function planContents({ owners, marked }: Facts, keepContents: boolean): ContentsPlan {
  const states = new Map(owners.map((state) => [state.id, state]));
  const byOwner = Map.groupBy(marked, ({ owner }) => owner);
  const plans: ProviderPlan[] = [];
  for (const [owner, objects] of byOwner)
    if (owner !== undefined) plans.push(planProvider(owner, states.get(owner), objects, keepContents));
  return {
    owners: plans.toSorted((a, b) => (a.owner < b.owner ? -1 : 1)),
    foreign: byOwner.get(undefined) ?? [],
  };
}

export function countOf({ owners }: ContentsPlan, fate: ProviderPlan['fate']): number {
  return owners.filter((plan) => plan.fate === fate).reduce((sum, { objects }) => sum + objects.length, 0);
}

// oxlint-disable-next-line max-params -- the parts of one row of the plan
function planProvider(
  owner: ProviderId,
  state: ProviderState | undefined,
  objects: readonly Observed[],
  keepContents: boolean,
): ProviderPlan {
  if (keepContents) return { owner, fate: 'release', reason: '--keep-contents', objects };
  // The verdict of the reconciler for a provider that is deleted with this number confirmed.
  const confirmation = String(objects.length);
  const deleted = state === undefined ? undefined : { ...state, isDeleting: true, confirmation };
  const verdict = judgeFuse(deleted, { outstanding: objects.length, recent: 0 }, false);
  return verdict.kind === 'delete'
    ? { owner, fate: 'delete', reason: '', objects }
    : { owner, fate: 'release', reason: reasonOf(state), objects };
}

function reasonOf(state: ProviderState | undefined): string {
  if (state === undefined) return 'it no longer exists';
  if (state.deletionPolicy === 'Orphan') return 'deletionPolicy: Orphan';
  return state.isSuspended ? 'it is suspended' : 'it does not load';
}
