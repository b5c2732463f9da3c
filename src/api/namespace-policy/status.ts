// The status of a policy, and the columns that `kubectl get nspol` prints.
import { list, object } from '../schema/build.ts';
import { count, note, statusFields } from '../status-fields.ts';
import { sharedColumns, suspendedColumn, type PrintColumn } from '../print-columns.ts';

const topViolation = object({
  description: 'A rule that a namespace violates.',
  fields: {
    namespace: note('The namespace.'),
    rule: note('The rule, by its path in the spec.'),
    path: note('The path in the Namespace.'),
    found: note('The value that was found.'),
    accepted: note('The values that are accepted.'),
  },
  required: ['namespace', 'rule'],
});

const fields = statusFields({
  provider: 'policy',
  where: 'matched namespaces',
  conditionTypes: 'Ready, Reconciling or Stalled',
  conditionMeanings:
    'Ready: all desired objects exist and match. Reconciling: Reeve is working on them. Stalled: Reeve cannot continue until a person acts; the reason says why.',
});

export const policyStatus = object({
  description: 'What Reeve reports about the policy; written by Reeve alone.',
  fields: {
    observedGeneration: fields.observedGeneration,
    matched: fields.matched,
    matchedNamespaces: fields.matchedNamespaces,
    desired: fields.desired,
    synced: fields.synced,
    conflicts: fields.conflicts,
    failed: fields.failed,
    violations: count('How many rules existing namespaces violate.'),
    topViolations: list({
      description: 'At most 20 of these violations.',
      items: topViolation,
      maxItems: 20,
    }),
    failures: fields.failures,
    confirmationUsed: fields.confirmationUsed,
    conditions: fields.conditions,
  },
});

const { desired, synced, conflicts, failed, ready, reason, age } = sharedColumns;

export const namespacePolicyColumns: readonly PrintColumn[] = [
  {
    name: 'Matched',
    type: 'integer',
    jsonPath: '.status.matched',
    description: 'How many namespaces the policy matches.',
  },
  desired,
  synced,
  { ...conflicts, priority: 1 },
  failed,
  {
    name: 'Violations',
    type: 'integer',
    jsonPath: '.status.violations',
    description: 'How many rules existing namespaces violate.',
  },
  {
    name: 'Actions',
    type: 'string',
    jsonPath: '.spec.validationActions',
    description: 'What happens when an object violates a rule.',
    priority: 1,
  },
  suspendedColumn('contents'),
  ready,
  reason,
  age,
];
