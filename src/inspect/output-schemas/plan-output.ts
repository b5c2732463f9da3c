// Defines the JSON of `reeve plan`: what would change, by namespace.
import { boolean, choice, map, object, type Infer } from '../../schema/schema.ts';
import { numberOf, header, namedObject, rows, unreadKinds, words } from './parts.ts';

const difference = object({
  description: 'One field that would change. Values of Secrets are never shown.',
  fields: {
    path: words('The path of the field.'),
    change: choice('What happens to the field.', ['added', 'removed', 'changed']),
    before: words('The value now, as YAML; of a text, the lines that change. Missing for values of Secrets.'),
    after: words('The value then, in the same form.'),
  },
  required: ['path', 'change'],
});

const change = object({
  description: 'What Reeve would do, or would not do, with one object.',
  fields: {
    action: choice('What happens.', [
      'create',
      'update',
      're-create',
      'delete',
      'release',
      'label set',
      'conflict',
      'blocked',
      'held',
      'kept',
      'skipped',
      'refused',
      'refused-if-recreated',
      'unknown',
    ]),
    object: namedObject,
    provider: words('The policy, share or binding: NamespacePolicy/team.'),
    certain: boolean('False if the API server may find the objects equal, so that nothing changes.'),
    reason: words('One word for programs, such as AlreadyExists.'),
    message: words('Why, for people.'),
    diff: rows('The fields that would change.', difference),
    known: boolean('True if the files change nothing about it. Such changes are listed with --all only.'),
  },
  required: ['action', 'certain'],
});

const provider = object({
  description: 'A policy, share or binding that would be applied.',
  fields: {
    id: words('Its kind and name.'),
    change: choice('How it differs from the stored one.', ['new', 'changed', 'unchanged', 'deleted']),
    warnings: rows('What the API server would warn.', words('A warning.')),
    refused: words('Why the API server would refuse it. Missing if it would not.'),
  },
  required: ['id', 'change', 'warnings'],
});

const violation = object({
  description: 'A rule that an existing object violates.',
  fields: {
    object: namedObject,
    rule: words('The rule, such as namespaces.required.'),
    message: words('What was found, and what is accepted.'),
  },
  required: ['object', 'rule', 'message'],
});

const policyViolations = object({
  description:
    'How the violations of one policy change. Existing violations block no write that leaves them as they are.',
  fields: {
    policy: words('The policy or binding: NamespacePolicy/team.'),
    count: numberOf('How many violations there are after the files are applied.'),
    known: numberOf('How many of these there are today.'),
    ended: numberOf('How many there are today, and then no longer.'),
    byKind: map({
      description: 'How many violations there are in objects of each kind.',
      keys: words('The kind.'),
      values: numberOf('How many.'),
      maxProperties: 20,
    }),
    unjudged: rows(
      'Kinds that the policy has new or changed rules for, and whose objects were not read.',
      object({
        description: 'A kind whose violations are not known.',
        fields: { kind: words('The kind.'), reason: words('Why it was not read.') },
        required: ['kind', 'reason'],
      }),
    ),
    new: rows('The violations that there are not today.', violation),
  },
  required: ['policy', 'count', 'known', 'ended', 'byKind', 'unjudged', 'new'],
});

const known = object({
  description: 'What the files change nothing about, so that only --all lists it.',
  fields: {
    problems: numberOf(
      'Violations, conflicts, and what is blocked, held, kept, skipped, unknown or does not load.',
    ),
    changes: numberOf('What Reeve would write also without the files.'),
  },
  required: ['problems', 'changes'],
});

const invalidProvider = object({
  description: 'A stored policy, share or binding that does not load.',
  fields: {
    id: words('Its kind and name.'),
    message: words('Its problems.'),
    known: boolean('True if it does not load today either.'),
  },
  required: ['id', 'message'],
});

export const namespaceOfPlan = object({
  description: 'What would change in one namespace.',
  fields: { name: words('Its name.'), changes: rows('The changes, by object.', change) },
  required: ['name', 'changes'],
});

export const planOutput = object({
  description: 'What reeve plan found.',
  fields: {
    ...header('Plan'),
    documents: numberOf('How many objects would be applied.'),
    deletions: numberOf('How many objects of --delete would be deleted.'),
    origin: words('The cluster, or "files".'),
    planned: numberOf('How many namespaces were planned.'),
    state: choice('Where the state came from.', ['files', 'cluster']),
    complete: boolean('False if a kind could not be read.'),
    counts: map({
      description: 'How many changes there are of each action.',
      keys: words('The action.'),
      values: numberOf('How many.'),
      maxProperties: 20,
    }),
    leftOut: numberOf('How many namespaces are excluded or being deleted.'),
    unread: unreadKinds,
    providers: rows('What would be applied.', provider),
    invalid: rows(
      'Stored providers that do not load, so that their objects stay as they are.',
      invalidProvider,
    ),
    violations: rows('How the violations of policies change, by policy.', policyViolations),
    known,
    namespaces: rows('The namespaces with changes, by name.', namespaceOfPlan),
  },
  required: [
    'apiVersion',
    'kind',
    'documents',
    'deletions',
    'origin',
    'planned',
    'state',
    'complete',
    'counts',
    'leftOut',
    'unread',
    'providers',
    'invalid',
    'violations',
    'known',
    'namespaces',
  ],
});

export type PlanDifference = Infer<typeof difference>;
export type PlanChange = Infer<typeof change>;
export type PlannedProvider = Infer<typeof provider>;
export type PlannedViolation = Infer<typeof violation>;
export type PolicyViolations = Infer<typeof policyViolations>;
export type PlannedNamespace = Infer<typeof namespaceOfPlan>;
export type PlanOutput = Infer<typeof planOutput>;
