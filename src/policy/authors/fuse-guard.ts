// The fuse at admission: how many objects one write of a policy or share may delete, unless a person says the number.
import { confirmDeletionsAnnotation, group } from '../../api/names.ts';
import { parseConfirmation } from '../plan/fuse.ts';
import { annotationsOf, valueOf } from '../../base/metadata.ts';
import { nameOfProvider } from '../terms/provider-id.ts';
import type { ProviderReview } from '../terms/review.ts';
import type { Finding } from '../terms/verdict.ts';
import { fateOf, type ProviderChange } from './change.ts';
import type { Difference } from './difference.ts';
import { counted, listed, plural } from '../terms/count-text.ts';

export function fuseFinding(
  review: ProviderReview,
  change: ProviderChange,
  { dropped }: Difference,
): Finding | undefined {
  const limit = change.before?.object.spec.maxDeletions;
  if (limit === undefined || fateOf(change) !== 'deleted') return undefined;
  const count = totalOf(dropped);
  if (count <= limit || confirmedCount(review) >= count) return undefined;
  const where = `${plural(dropped.size, 'namespace')}: ${listed([...dropped.keys()])}`;
  return {
    violation: {
      policy: '',
      by: 'reeve',
      rule: 'fuse',
      path: 'spec.maxDeletions',
      found: `${counted(count, 'object')} that this would delete, beyond the limit of ${limit}, in ${where}`,
      accepted: `at most ${limit}, or ${howToConfirm(review, change, count)}`,
    },
    actions: ['Deny'],
  };
}

export function totalOf(dropped: Difference['dropped']): number {
  let total = 0;
  for (const count of dropped.values()) total += count;
  return total;
}

/** A number that was there before was said about another write; for a DELETE it can only stand there before. */
function confirmedCount({ object, oldObject }: ProviderReview): number {
  const old = valueOf(annotationsOf(oldObject), confirmDeletionsAnnotation);
  if (object === undefined) return parseConfirmation(old) ?? -1;
  const now = valueOf(annotationsOf(object), confirmDeletionsAnnotation);
  return now === old ? -1 : (parseConfirmation(now) ?? -1);
}

function howToConfirm(
  { resource, oldObject }: ProviderReview,
  change: ProviderChange,
  count: number,
): string {
  if (change.after === undefined) {
    const object = `${resource}.${group} ${nameOfProvider(change.id)}`;
    return `first: kubectl annotate ${object} --overwrite ${confirmDeletionsAnnotation}=${count}`;
  }
  const old = valueOf(annotationsOf(oldObject), confirmDeletionsAnnotation);
  const number = old === String(count) ? count + 1 : count;
  return (
    `the annotation ${confirmDeletionsAnnotation}: "${number}" set in the same write: ` +
    `kubectl annotate --local -f FILE --overwrite ${confirmDeletionsAnnotation}=${number} -o yaml | kubectl apply -f -`
  );
}
