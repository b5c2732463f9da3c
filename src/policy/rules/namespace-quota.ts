// namespaces.quota: limits how many matched namespaces may have the same value of a label.
import type { QuotaSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { keyPath, labelsOf, valueOf } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { quoted } from '../terms/wording.ts';
import type { Rule, StepContext } from './rule.ts';

/** Best effort: two concurrent requests can both pass. The reconciler reports the overshoot. */
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
          found: `${spec.max} other namespaces with ${quoted(value)}`,
          accepted: `at most ${spec.max} namespaces with one value`,
          message: `${spec.label} ${clipped(value)} already has ${spec.max} of ${spec.max} namespaces`,
          identity: undefined,
        },
      ];
    },
  };
}

/** Returns the label value for which this write adds the namespace to the count; undefined when it adds none. */
function newlyCountedValue(
  spec: QuotaSpec,
  { review, matchesNew, matchedOld }: StepContext,
): string | undefined {
  if (!matchesNew || review.object === undefined) return undefined;
  const value = valueOf(labelsOf(review.object), spec.label);
  const before = matchedOld ? valueOf(labelsOf(review.oldObject), spec.label) : undefined;
  return value === before ? undefined : value;
}
