// Decides whether Reeve may delete so many objects of one provider at once, or must wait for a confirmation.
import { orphanedFromKey } from '../../schema/names.ts';
import { kindOfProvider, nameOfProvider, type ProviderId, type ProviderState } from '../terms/provider-id.ts';
import { counted } from '../../base/text.ts';

export type FuseVerdict =
  | { readonly kind: 'delete' }
  /** The deletion is not counted yet, or its count is not in the status yet. */
  | { readonly kind: 'wait' }
  /** The objects stay without our mark, because the deletion was not or cannot be confirmed. */
  | { readonly kind: 'release'; readonly why: ReleaseReason }
  | { readonly kind: 'hold'; readonly held: HeldDeletions }
  /** The API server gives no answer. Until it does, the objects stay as they are. */
  | { readonly kind: 'unknown' };

export type ReleaseReason =
  'OwnerUnknown' | 'DeletionPolicyOrphan' | 'Suspended' | 'Invalid' | 'KindDeleted' | 'TooManyDeletions';

export interface HeldDeletions {
  /** The number of held objects. A confirmation must reach this number. */
  readonly count: number;
  /** Deletions in the ten minutes before the hold, which count together with the held objects. */
  readonly recent: number;
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Decides without regard to other deletions. `count`: the objects that would be deleted. `wait`: the gate of the provider
 * decides. `provider` is undefined if this process has never seen the provider. Its objects are then not deleted.
 */
export function judgeFuse(
  provider: ProviderState | undefined,
  count: number,
  isKindTerminating: boolean,
): Extract<FuseVerdict, { kind: 'delete' | 'wait' | 'release' }> {
  if (provider === undefined) return { kind: 'release', why: 'OwnerUnknown' };
  if (provider.deletionPolicy === 'Orphan') return { kind: 'release', why: 'DeletionPolicyOrphan' };
  if (!provider.isDeleting) return { kind: 'wait' };
  // Deleting the CRD deletes all providers of the kind, without a check by the webhook.
  if (isKindTerminating) return { kind: 'release', why: 'KindDeleted' };
  if (provider.isSuspended) return { kind: 'release', why: 'Suspended' };
  if (!provider.isValid) return { kind: 'release', why: 'Invalid' };
  const isAllowed = allowsDeletions({ count, earlier: 0, ...termsOf(provider) });
  return isAllowed ? { kind: 'delete' } : { kind: 'release', why: 'TooManyDeletions' };
}

/** The limits of a provider. */
export interface DeletionTerms {
  readonly limit: number;
  /** The number in the annotation, if it has not been used. Otherwise -1. */
  readonly confirmed: number;
}

export function termsOf(provider: ProviderState): DeletionTerms {
  return { limit: provider.maxDeletions, confirmed: confirmedCount(provider) };
}

/** `earlier`: deletions that count together with these `count` ones, but that need no confirmation. */
export function allowsDeletions({
  count,
  earlier,
  limit,
  confirmed,
}: DeletionTerms & { readonly count: number; readonly earlier: number }): boolean {
  return count + earlier <= limit || confirmed >= count;
}

export function heldText({ count, recent, limit }: HeldDeletions): string {
  return `${counted(count, 'object')} would be deleted${earlierText(recent)}, and maxDeletions is ${limit}`;
}

/** Names the deletions that count together with others. */
export function earlierText(count: number): string {
  return count === 0 ? '' : `, after ${count} in the ten minutes before`;
}

/** A text confirms only once, so a number that was used before gets a leading zero. */
export function unusedConfirmation(count: number, used: string | undefined): string {
  let text = String(count);
  while (text === used) text = `0${text}`;
  return text;
}

/** Names no count, so that a change in one namespace does not cost a write in every other namespace. */
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

/** Returns the number of a confirmation that is not used. For a deletion, a used one counts, because it must be set before. */
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
