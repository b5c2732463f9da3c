// A policy that denies must say yes or no to every namespace there is: one that errors would refuse all writes of it.
import type { Finding } from '../terms/verdict.ts';
import type { ProviderChange } from './change.ts';
import type { Difference } from './difference.ts';
import { counted, listed } from '../terms/count-text.ts';

/** Where the older version had an error already, and denied as well, nothing gets worse: an author is told, and that is all. */
export function unmatchedFinding(
  { before, after }: ProviderChange,
  { unmatched }: Difference,
): Finding | undefined {
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

function denies(definition: ProviderChange['after']): boolean {
  return definition?.kind === 'NamespacePolicy' && definition.object.spec.validationActions.includes('Deny');
}
