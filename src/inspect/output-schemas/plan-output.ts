// Defines the JSON of `reeve plan`: what would change, by namespace.
import { boolean, choice, map, object } from '../../api/schema/build.ts';
import type { Infer } from '../../api/schema/schema.ts';
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

const invalidProvider = object({
  description: 'A stored policy, share or binding that does not load.',
  fields: { id: words('Its kind and name.'), message: words('Its problems.') },
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
    namespaces: rows('The namespaces with changes, by name.', namespaceOfPlan),
  },
  required: [
    'apiVersion',
    'kind',
    'documents',
    'origin',
    'planned',
    'state',
    'complete',
    'counts',
    'leftOut',
    'unread',
    'providers',
    'invalid',
    'namespaces',
  ],
});

export type PlanDifference = Infer<typeof difference>;
export type PlanChange = Infer<typeof change>;
export type PlannedProvider = Infer<typeof provider>;
export type PlannedNamespace = Infer<typeof namespaceOfPlan>;
export type PlanOutput = Infer<typeof planOutput>;
