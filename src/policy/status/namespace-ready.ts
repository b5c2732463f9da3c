// Derives the condition reeve.dev/Ready of a Namespace: whether every policy and share has there what it wants.
import { managedByLabel, managedByReeve, ownerAnnotation, readyCondition } from '../../schema/names.ts';
import { clipped } from '../../base/text.ts';
import type { Desired } from '../desired/desired.ts';
import { kindOfKey, nameOfKey, type ObjectKey } from '../terms/object-key.ts';
import type { ObjectResult } from '../plan/object-result.ts';
import type { Observed } from '../plan/observed.ts';
import type { Condition } from './condition.ts';

const maxMessageLength = 1024;

export function namespaceReadiness(
  { claims, fields, frozen, skipped }: Pick<Desired, 'claims' | 'fields' | 'frozen' | 'skipped'>,
  results: readonly ObjectResult[],
  unowned: readonly Pick<Observed, 'key'>[],
): Condition {
  const unsatisfied = firstUnsatisfied(results);
  if (unsatisfied !== undefined) {
    const { provider, key, reason, message } = unsatisfied;
    return notReady(reason, `${kindOfKey(key)} ${nameOfKey(key)} of ${provider}: ${message}`);
  }
  for (const [provider, { reason, message }] of frozen)
    if (reason !== 'Suspended') return notReady(reason, `${provider}: ${message}`);
  const lacksOwner = unowned.map(({ key }) => key).toSorted()[0];
  if (lacksOwner !== undefined) return notReady('OwnerMissing', withoutOwner(lacksOwner));
  const isEmpty = claims.size + fields.size === 0;
  if (skipped.length > 0) {
    // Two providers can be satisfied by one object.
    const synced = new Set(results.filter(({ state }) => state === 'synced').map(({ key }) => key));
    return ready(isEmpty ? 'NothingProvided' : 'Synced', skippedMessage(synced.size, skipped));
  }
  // The message holds no count, so that a new share does not cost a write in every namespace.
  return isEmpty
    ? ready('NothingProvided', 'no policy or share provides objects here')
    : ready('Synced', 'all objects of policies and shares are in sync');
}

/** The condition of a Namespace that is being deleted: its objects disappear, whatever its condition was before. */
export const terminatingReadiness: Condition = notReady(
  'NamespaceTerminating',
  'the namespace is being deleted, so Reeve leaves its objects alone',
);

/** Reeve cannot tell whether the object is needed, so it neither deletes nor releases it. */
function withoutOwner(key: ObjectKey): string {
  return (
    `${kindOfKey(key)} ${nameOfKey(key)} has the label ${managedByLabel}=${managedByReeve} but no annotation ` +
    `${ownerAnnotation} with a policy or share, so Reeve leaves it alone, and the guard lets no user change it; ` +
    'a member of the group reeve:break-glass can delete it or remove the label'
  );
}

/** `3 of 4 provided; RoleBinding viewers skipped: annotation ad/view is missing` */
function skippedMessage(synced: number, skipped: Desired['skipped']): string {
  const [first] = skipped;
  const more = skipped.length - 1;
  const reason = first === undefined ? '' : `; ${first.kind} ${first.name} skipped: ${first.message}`;
  return `${synced} of ${synced + skipped.length} provided${reason}${more > 0 ? `, and ${more} more` : ''}`;
}

/** Returns the first result by key, so that the order of the work does not change the message. */
function firstUnsatisfied(results: readonly ObjectResult[]): ObjectResult | undefined {
  return results
    .filter(({ state }) => state !== 'synced')
    .reduce<ObjectResult | undefined>(
      (first, each) => (first === undefined || rankOf(each) < rankOf(first) ? each : first),
      undefined,
    );
}

/** Missing objects come before unwanted ones. The failure of an owner comes before conflicts of other providers. */
function rankOf({ key, state, provider }: ObjectResult): string {
  return `${state === 'undesired' ? 1 : 0} ${key} ${state === 'failed' ? 0 : 1} ${provider}`;
}

function ready(reason: string, message: string): Condition {
  return { type: readyCondition, status: 'True', reason, message: clipped(message, maxMessageLength) };
}

function notReady(reason: string, message: string): Condition {
  return { type: readyCondition, status: 'False', reason, message: clipped(message, maxMessageLength) };
}
