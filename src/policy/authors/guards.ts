// The fuse at admission: how many objects one write of a policy or share may delete, unless a person says the number.
import { confirmDeletionsAnnotation, group } from '../../api/names.ts';
import { parseConfirmation } from '../plan/fuse.ts';
import { annotationsOf, valueOf } from '../../base/metadata.ts';
import { nameOfProvider } from '../terms/provider-id.ts';
import type { ProviderReview } from '../terms/review.ts';
import type { JudgedViolation } from '../terms/verdict.ts';
import { fateOf, type ProviderWrite } from './provider-write.ts';
import type { Impact } from './impact.ts';
import { counted, listed, plural } from '../terms/wording.ts';

export function fuseViolation(
  review: ProviderReview,
  write: ProviderWrite,
  { dropped }: Impact,
): JudgedViolation | undefined {
  const limit = write.before?.object.spec.maxDeletions;
  if (limit === undefined || fateOf(write) !== 'deleted') return undefined;
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
      accepted: `at most ${limit}, or ${howToConfirm(review, write, count)}`,
    },
    actions: ['Deny'],
  };
}

export function totalOf(dropped: Impact['dropped']): number {
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

function howToConfirm({ resource, oldObject }: ProviderReview, write: ProviderWrite, count: number): string {
  if (write.after === undefined) {
    const object = `${resource}.${group} ${nameOfProvider(write.id)}`;
    return `first: kubectl annotate ${object} --overwrite ${confirmDeletionsAnnotation}=${count}`;
  }
  const old = valueOf(annotationsOf(oldObject), confirmDeletionsAnnotation);
  const number = old === String(count) ? count + 1 : count;
  return (
    `the annotation ${confirmDeletionsAnnotation}: "${number}" set in the same write: ` +
    `kubectl annotate --local -f FILE --overwrite ${confirmDeletionsAnnotation}=${number} -o yaml | kubectl apply -f -`
  );
}

/** Where the older version had an error already, and denied as well, nothing gets worse: an author is told, and that is all. */
export function unmatchedViolation(
  { before, after }: ProviderWrite,
  { unmatched }: Impact,
): JudgedViolation | undefined {
  if (!denies(after)) return undefined;
  const found = unmatched.filter(({ isOld }) => !isOld || !denies(before));
  const [first] = found;
  if (first === undefined) return undefined;
  const names = found.map(({ name }) => name);
  return {
    violation: {
      policy: '',
      by: 'reeve',
      rule: 'match',
      path: 'spec.match.matchConditions',
      found: `an error for ${counted(names.length, 'namespace')}: ${listed(names)} (${first.condition}: ${first.message})`,
      accepted:
        'conditions that are true or false for every namespace; has() and .? ask for what may be missing',
    },
    actions: ['Deny'],
  };
}

function denies(definition: ProviderWrite['after']): boolean {
  return definition?.kind === 'NamespacePolicy' && definition.object.spec.validationActions.includes('Deny');
}
