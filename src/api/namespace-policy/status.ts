// The status of a policy, and the columns that `kubectl get nspol` prints.
import { list, object } from '../../schema/schema.ts';
import { count, note, statusFields, type StatusWords } from '../status-fields.ts';
import { sharedColumns, suspendedColumn, type PrintColumn } from '../provider-fields.ts';

const topViolation = object({
  description: 'A rule that a Namespace, or an object in it, violates.',
  fields: {
    namespace: note('The namespace.'),
    kind: note('The kind of the object. Left out if the Namespace itself violates the rule.'),
    name: note('The name of the object.'),
    rule: note('The rule, by its path in the spec.'),
    path: note('The path in the Namespace or in the object.'),
    found: note('The value that was found.'),
    accepted: note('The values that are accepted.'),
  },
  required: ['namespace', 'rule'],
});

/** The fields of a provider that has rules on Namespaces. */
export function policyStatusFields(words: Omit<StatusWords, 'where'>) {
  const fields = statusFields({ ...words, where: 'matched namespaces' });
  return {
    observedGeneration: fields.observedGeneration,
    matched: fields.matched,
    matchedNamespaces: fields.matchedNamespaces,
    desired: fields.desired,
    synced: fields.synced,
    conflicts: fields.conflicts,
    failed: fields.failed,
    skipped: fields.skipped,
    violations: count(
      'How many rules existing Namespaces, and Roles, RoleBindings and Secrets in them, violate.',
    ),
    violationsByResource: object({
      description: 'The same by resource. A resource is left out while it is not audited.',
      fields: {
        namespaces: count('Violations by Namespaces.'),
        roles: count('Violations by Roles.'),
        roleBindings: count('Violations by RoleBindings.'),
        secrets: count('Violations by Secrets. Only with the flag --audit-secrets.'),
      },
    }),
    topViolations: list({
      description: 'At most 20 of these violations.',
      items: topViolation,
      maxItems: 20,
    }),
    failures: fields.failures,
    skippedContents: fields.skippedContents,
    confirmationUsed: fields.confirmationUsed,
    held: fields.held,
    deletions: fields.deletions,
    conditions: fields.conditions,
  };
}

const waves = object({
  description:
    'How far namespaces.enforced.waves has moved the values. Reeve goes on from here after a restart.',
  fields: {
    state: note(
      'Moving: the namespaces of the wave get the values. Pausing: Reeve waits for the next wave. Stopped: too few of the namespaces with the values are ready. Done: all have the values.',
    ),
    wave: count('How many waves have begun.'),
    since: note('When the state began.'),
    moved: count('How many matched namespaces have the values.'),
    waiting: count('How many matched namespaces do not have them yet.'),
    notReady: list({
      description: 'The first five namespaces with the values that are not ready.',
      items: note('The namespace.'),
      maxItems: 5,
    }),
    through: note(
      'The position in the order of the namespaces up to which waves have begun. Empty when all are done.',
    ),
    values: note('Identifies the values and the match. The waves begin again when it changes.'),
  },
});

export const policyStatus = object({
  description: 'What Reeve reports about the policy; written by Reeve alone.',
  fields: {
    ...policyStatusFields({
      provider: 'policy',
      conditionTypes: 'Ready, Reconciling, Stalled or Expensive',
      conditionMeanings:
        'Ready: all desired objects exist and match. Reconciling: Reeve is working on them. Stalled: Reeve cannot continue until a person acts; the reason says why. Expensive: the policy costs too much in a namespace.',
    }),
    waves,
  },
});

const { desired, synced, conflicts, failed, skipped, ready, reason, age } = sharedColumns;

export const policyColumns: readonly PrintColumn[] = [
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
  skipped,
  {
    name: 'Violations',
    type: 'integer',
    jsonPath: '.status.violations',
    description: 'How many rules existing Namespaces, and objects in them, violate.',
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
