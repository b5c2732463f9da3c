// Says which of several providers gets an object, and which providers keep their objects as they are.
import { namespaceOfProvider, type ProviderId } from '../terms/provider-id.ts';
import type { Claim } from '../desired/provider.ts';
import type { Observed } from './observed.ts';
import type { PlanInput } from './plan-input.ts';

/** Orders claims by name, but a frozen provider keeps what it owns and takes nothing from other providers. */
export function byPrecedence(
  claims: readonly Claim[],
  live: Observed | undefined,
  input: Pick<PlanInput, 'snapshot' | 'desired'>,
): readonly Claim[] {
  const rank = ({ provider }: Claim): number => {
    if (!input.desired.frozen.has(provider)) return 1;
    return provider === live?.owner && keepsFrozen(provider, input) ? 0 : 2;
  };
  return claims.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Returns whether no other provider can take the objects of this one, because it is frozen. A binding of a tenant always
 * gives way: with a suspended one, he would stop the provider of the cluster from changing the object.
 */
export function keepsFrozen(owner: ProviderId, input: Pick<PlanInput, 'snapshot' | 'desired'>): boolean {
  return isFrozen(owner, input) && namespaceOfProvider(owner) === undefined;
}

/** A provider that does not load, is suspended, or has an error for this namespace keeps its objects as they are. */
export function isFrozen(
  owner: ProviderId,
  { snapshot, desired }: Pick<PlanInput, 'snapshot' | 'desired'>,
): boolean {
  if (desired.frozen.has(owner)) return true;
  const state = snapshot.providers.get(owner);
  // The fuse decides about the objects of a provider that is being deleted.
  return state !== undefined && !state.isDeleting && (!state.isValid || state.isSuspended);
}
