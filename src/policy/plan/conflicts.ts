// Words the conflicts about an object that a provider wants and cannot have.
import { quoted } from '../../base/text.ts';
import { managedByLabel, managedByReeve, ownerAnnotation } from '../../schema/names.ts';
import type { Claim } from '../desired/desired.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import { conflictResult, type Observed, type ObjectResult } from './observed.ts';

export function notOurs(claim: Claim, live: Observed): ObjectResult {
  return conflictResult(
    claim,
    'AlreadyExists',
    live.lacksOwner ? withoutOwnerText(live) : unmanagedText(live),
  );
}

function unmanagedText({ type, orphanedFrom, unknownOffer, isHeld }: Observed): string {
  if (isHeld)
    return (
      `a ${type.kind} of this name exists with finalizers, which would delay its deletion, so Reeve does not take it ` +
      'over; its owner can remove them and label it reeve.dev/adopt=true to hand it over, or delete or rename it'
    );
  const from = orphanedFrom === undefined ? '' : ` and ${orphanedFrom} left behind`;
  const offer =
    unknownOffer === undefined ? '' : ` (not ${quoted(unknownOffer)}, the value that the label has)`;
  return (
    `a ${type.kind} of this name exists that Reeve does not manage${from}; ` +
    `its owner can label it reeve.dev/adopt=true${offer} to hand it over, or delete or rename it`
  );
}

/** Offers no adoption, because the guard refuses the label for adoption on such an object. */
function withoutOwnerText({ type }: Observed): string {
  return (
    `a ${type.kind} of this name has the label ${managedByLabel}=${managedByReeve} but no annotation ` +
    `${ownerAnnotation} with a policy or share, and the guard lets no user change it; a member of the group reeve:break-glass can label it ` +
    'reeve.dev/adopt=true to hand it over, or delete it'
  );
}

export function providedBy(claim: Claim, winner: ProviderId, differing: readonly string[]): ObjectResult {
  const message =
    `${winner} already provides it, with different ${differing.join(', ')}; ` +
    'make both the same, or rename or remove one';
  return conflictResult(claim, 'ProvidedByAnother', message);
}
