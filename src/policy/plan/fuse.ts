// The fuse: decides whether Reeve may delete so many objects of one provider at once, or waits for a person.
import type { ProviderState } from '../terms/provider-id.ts';

export type FuseVerdict =
  | { readonly kind: 'delete' }
  /** The objects stay and lose our label and annotations, because the provider is not there for a confirmation. */
  | { readonly kind: 'release' }
  | { readonly kind: 'hold'; readonly count: number; readonly limit: number }
  /** The API server gives no answer. The objects stay as they are until it does. */
  | { readonly kind: 'unknown' };

export interface FuseCount {
  /** Live objects that are no longer wanted. */
  readonly outstanding: number;
  /** Objects of the provider deleted within the last minute. */
  readonly recent: number;
}

/** `provider` is undefined for a provider that this process has never seen: its objects are not deleted. */
export function judgeFuse(
  provider: ProviderState | undefined,
  { outstanding, recent }: FuseCount,
  isKindTerminating: boolean,
): FuseVerdict {
  if (provider === undefined) return { kind: 'release' };
  if (provider.deletionPolicy === 'Orphan') return { kind: 'release' };
  // Deleting the CRD deletes all providers of the kind, without a check by the webhook.
  if (provider.isDeleting && (provider.isSuspended || !provider.isValid || isKindTerminating))
    return { kind: 'release' };
  const count = outstanding + recent;
  // At a deletion, the webhook named the number of existing objects. That number confirms the deletion of all of them.
  const toConfirm = provider.isDeleting ? outstanding : count;
  if (count <= provider.maxDeletions || confirmedCount(provider) >= toConfirm) return { kind: 'delete' };
  return provider.isDeleting ? { kind: 'release' } : { kind: 'hold', count, limit: provider.maxDeletions };
}

/** A used confirmation does not count again, except at a deletion, where the annotation must be set before. */
function confirmedCount({ confirmation, confirmationUsed, isDeleting }: ProviderState): number {
  const isSpent = confirmation === confirmationUsed && !isDeleting;
  return isSpent ? -1 : (parseConfirmation(confirmation) ?? -1);
}

/** Returns undefined for anything but a plain number. */
export function parseConfirmation(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
