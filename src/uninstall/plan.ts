// Decides what becomes of everything that policies and shares have provided: it is deleted, or stays without the mark.
import { judgeFuse } from '../policy/plan/fuse.ts';
import type { Observed } from '../policy/plan/observed.ts';
import type { ProviderId, ProviderState } from '../policy/terms/provider-id.ts';
import type { Facts } from './facts.ts';

export interface ProviderPlan {
  readonly owner: ProviderId;
  readonly fate: 'delete' | 'release';
  /** Why they stay; empty where they are deleted. */
  readonly reason: string;
  readonly objects: readonly Observed[];
}

export interface ContentsPlan {
  readonly owners: readonly ProviderPlan[];
  /** They have the label and name no policy or share, so they are somebody else's. */
  readonly foreign: readonly Observed[];
}

/** The administrator confirms the number that the plan names, so no limit of a policy holds it up. */
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
  // As the reconciler would judge it, were it deleted with that number confirmed.
  const confirmation = String(objects.length);
  const deleted = state === undefined ? undefined : { ...state, isDeleting: true, confirmation };
  const verdict = judgeFuse(deleted, { outstanding: objects.length, recent: 0 }, false);
  return verdict.kind === 'delete'
    ? { owner, fate: 'delete', reason: '', objects }
    : { owner, fate: 'release', reason: reasonOf(state), objects };
}

function reasonOf(state: ProviderState | undefined): string {
  if (state === undefined) return 'it is not there any more';
  if (state.deletionPolicy === 'Orphan') return 'deletionPolicy: Orphan';
  return state.isSuspended ? 'it is suspended' : 'it does not load';
}
