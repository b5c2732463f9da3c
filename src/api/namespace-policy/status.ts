// What Reeve reports about a policy.
import { list, object } from '../schema/build.ts';
import { count, note, statusFields } from '../status-fields.ts';

const topViolation = object({
  description: 'A rule that a namespace breaks.',
  fields: {
    namespace: note('The namespace.'),
    rule: note('The rule, by its path in the spec.'),
    path: note('Where in the Namespace.'),
    found: note('What is there.'),
    accepted: note('What would be accepted.'),
  },
  required: ['namespace', 'rule'],
});

const { observedGeneration, desired, synced, conflicts, failed, failures, confirmationUsed, conditions } =
  statusFields({
    provider: 'policy',
    where: 'matched namespaces',
    conditionTypes: 'Ready, Reconciling or Stalled',
    conditionMeanings:
      'Ready: all that is desired is there. Reconciling: work is under way. Stalled: somebody must act first; its reason says why.',
  });

export const status = object({
  description: 'What Reeve reports about the policy; written by Reeve alone.',
  fields: {
    observedGeneration,
    matched: count('How many namespaces the policy matches.'),
    desired,
    synced,
    conflicts,
    failed,
    violations: count('How many rules are broken by namespaces that are already there.'),
    topViolations: list({ description: 'Some of those violations.', items: topViolation, maxItems: 20 }),
    failures,
    confirmationUsed,
    conditions,
  },
});
