// The fuse: decides whether Reeve may delete so many objects of one provider at once, or waits for a person.
import { orphanedFromKey } from '../../api/names.ts';
import { kindOfProvider, nameOfProvider, type ProviderId, type ProviderState } from '../terms/provider-id.ts';
import { counted } from '../terms/wording.ts';

export type FuseVerdict =
  | { readonly kind: 'delete' }
  /** The objects stay without our mark, because the deletion was not confirmed, or cannot be. */
  | { readonly kind: 'release'; readonly why: ReleaseReason }
  | { readonly kind: 'hold'; readonly held: HeldDeletions }
  /** The API server gives no answer. The objects stay as they are until it does. */
  | { readonly kind: 'unknown' };

export type ReleaseReason =
  'OwnerUnknown' | 'DeletionPolicyOrphan' | 'Suspended' | 'Invalid' | 'KindDeleted' | 'TooManyDeletions';

export interface FuseCount {
  /** Live objects that are no longer wanted. */
  readonly outstanding: number;
  /** Deletions that count together with those: see `Fuse`. */
  readonly recent: number;
}

export interface HeldDeletions extends FuseCount {
  readonly limit: number;
}

/** `provider` is undefined for a provider that this process has never seen: its objects are not deleted. */
export function judgeFuse(
  provider: ProviderState | undefined,
  { outstanding, recent }: FuseCount,
  isKindTerminating: boolean,
): FuseVerdict {
  if (provider === undefined) return { kind: 'release', why: 'OwnerUnknown' };
  if (provider.deletionPolicy === 'Orphan') return { kind: 'release', why: 'DeletionPolicyOrphan' };
  if (provider.isDeleting) {
    // Deleting the CRD deletes all providers of the kind, without a check by the webhook.
    if (isKindTerminating) return { kind: 'release', why: 'KindDeleted' };
    if (provider.isSuspended) return { kind: 'release', why: 'Suspended' };
    if (!provider.isValid) return { kind: 'release', why: 'Invalid' };
  }
  const count = outstanding + recent;
  const limit = provider.maxDeletions;
  if (count <= limit || confirmedCount(provider) >= count) return { kind: 'delete' };
  return provider.isDeleting
    ? { kind: 'release', why: 'TooManyDeletions' }
    : { kind: 'hold', held: { outstanding, recent, limit } };
}

/** The number that a confirmation must reach. */
export function toConfirm({ outstanding, recent }: FuseCount): number {
  return outstanding + recent;
}

export function heldText({ outstanding, recent, limit }: HeldDeletions): string {
  const earlier = recent === 0 ? '' : `, after ${recent} within the last minute`;
  return `${counted(outstanding, 'object')} would be deleted${earlier}, and maxDeletions is ${limit}`;
}

/** Holds no count, so that a change in one namespace does not cost a write in every other namespace. */
export function heldHereText(owner: ProviderId): string {
  return `it stays, because more than maxDeletions objects would be deleted; the status of ${owner} says how to confirm that`;
}

/** Says why `count` objects stay, for the event of the provider that left them behind. */
export function orphanedText(why: ReleaseReason, count: number, provider: ProviderId): string {
  const stay = count === 1 ? 'stays' : 'stay';
  const mark = `${orphanedFromKey}=${nameOfProvider(provider)}`;
  return (
    `${counted(count, 'object')} ${stay} without Reeve: ${causes[why]}; ` +
    `find them by the label ${mark}; a new ${kindOfProvider(provider)} of this name takes them back`
  );
}

const causes: Readonly<Record<ReleaseReason, string>> = {
  OwnerUnknown: 'their policy or share no longer exists (was its finalizer reeve.dev/cleanup removed?)',
  DeletionPolicyOrphan: 'deletionPolicy is Orphan',
  Suspended: 'it was deleted while suspended',
  Invalid: 'it was deleted while its spec did not load',
  KindDeleted: 'its CustomResourceDefinition was deleted too',
  TooManyDeletions:
    'more than maxDeletions, and the annotation reeve.dev/confirm-deletions did not confirm the number',
};

/** A used confirmation does not count again, except at a deletion, where the annotation must be set before. */
export function confirmedCount({
  confirmation,
  confirmationUsed,
  isDeleting,
}: Pick<ProviderState, 'confirmation' | 'confirmationUsed' | 'isDeleting'>): number {
  const isSpent = confirmation === confirmationUsed && !isDeleting;
  return isSpent ? -1 : (parseConfirmation(confirmation) ?? -1);
}

/** Returns undefined for anything but a plain number. */
export function parseConfirmation(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
