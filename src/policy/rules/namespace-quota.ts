// namespaces.quota: at most so many namespaces of a policy share a value of a label.
import type { QuotaSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { keyPath, labelsOf, valueOf } from '../../base/metadata.ts';
import { quoted } from '../terms/wording.ts';
import type { Rule, StepContext } from './rule.ts';

/** Best effort: two requests at once can both pass, and the reconciler reports the overshoot. */
export function namespaceQuotaRule(spec: QuotaSpec): Rule {
  return {
    shape: 'step',
    id: 'namespaces.quota',
    judge(context) {
      const value = newlyCountedValue(spec, context);
      if (value === undefined) return [];
      if (context.countOthers(spec.label, value, spec.max) < spec.max) return [];
      return [
        {
          path: keyPath('labels', spec.label),
          found: `${spec.max} other namespaces with ${quoted(value)} already`,
          accepted: `at most ${spec.max} namespaces with one value`,
          identity: undefined,
        },
      ];
    },
  };
}

/** The value under which this write makes the namespace count where it did not count before. */
function newlyCountedValue(
  spec: QuotaSpec,
  { review, matchesNew, matchedOld }: StepContext,
): string | undefined {
  if (!matchesNew || review.object === undefined) return undefined;
  const value = valueOf(labelsOf(review.object), spec.label);
  const before = matchedOld ? valueOf(labelsOf(review.oldObject), spec.label) : undefined;
  return value === before ? undefined : value;
}
