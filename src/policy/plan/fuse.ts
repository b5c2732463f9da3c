// The fuse: whether an owner may lose as many objects at once as it is about to, or must wait for a person.
import type { ProviderState } from '../terms/provider-id.ts';

export type FuseVerdict =
  | { readonly kind: 'delete' }
  /** The objects stay, and lose our marks: nobody is there to confirm, and nothing may hold up the owner. */
  | { readonly kind: 'release' }
  | { readonly kind: 'hold'; readonly count: number; readonly limit: number }
  /** It cannot be found out at present; until then the objects stay as they are. */
  | { readonly kind: 'unknown' };

export interface FuseCount {
  /** Live objects that are not desired any more. */
  readonly outstanding: number;
  /** Deleted for the owner within the last minute. */
  readonly recent: number;
}

/** An owner that is not there may never have been seen by this process: its objects are nobody's to delete. */
export function judgeFuse(
  owner: ProviderState | undefined,
  { outstanding, recent }: FuseCount,
  isKindTerminating: boolean,
): FuseVerdict {
  if (owner === undefined) return { kind: 'release' };
  if (owner.deletionPolicy === 'Orphan') return { kind: 'release' };
  // Who deletes the definition of the kind is asked nothing, and takes all owners with it.
  if (owner.isDeleting && (owner.isSuspended || !owner.isValid || isKindTerminating))
    return { kind: 'release' };
  const count = outstanding + recent;
  // Of one that goes, the hook told the person what is there, and whoever says that number must not have it released.
  const toConfirm = owner.isDeleting ? outstanding : count;
  if (count <= owner.maxDeletions || confirmedCount(owner) >= toConfirm) return { kind: 'delete' };
  return owner.isDeleting ? { kind: 'release' } : { kind: 'hold', count, limit: owner.maxDeletions };
}

/** A confirmation that has been used counts no more, except for an owner that goes: there it has to stand beforehand. */
function confirmedCount({ confirmation, confirmationUsed, isDeleting }: ProviderState): number {
  const isSpent = confirmation === confirmationUsed && !isDeleting;
  return isSpent ? -1 : (parseConfirmation(confirmation) ?? -1);
}

/** Undefined for anything but a plain number. */
export function parseConfirmation(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
