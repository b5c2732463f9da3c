// Defines the JSON of `reeve confirm`: the objects that a confirmation lets Reeve delete, and the annotation.
import { boolean, choice, object, type Infer } from '../../schema/schema.ts';
import { numberOf, header, namedObject, rows, words, unreadKinds } from './parts.ts';
import { namespaceOfPlan } from './plan-output.ts';

const removal = object({
  description: 'An object that would be deleted, or given back to its previous owner.',
  fields: {
    action: choice('release: another client created the object, so Reeve removes only what it added.', [
      'delete',
      'release',
    ]),
    object: namedObject,
  },
  required: ['action', 'object'],
});

export const confirmation = object({
  description: 'What reeve confirm found and did.',
  fields: {
    ...header('Confirmation'),
    provider: words('The policy, share or binding: NamespacePolicy/team.'),
    forDeletion: boolean('True if the question was what the deletion of the provider would delete.'),
    maxDeletions: numberOf('How many objects one change may delete without a confirmation.'),
    recent: numberOf(
      'How many objects were deleted in the ten minutes before. They count together with the objects.',
    ),
    outcome: choice('Whether a confirmation is needed, and whether it was set.', [
      'nothing to delete',
      'not needed',
      'confirmed before',
      'not confirmed',
      'confirmed',
    ]),
    reason: words('Why nothing would be deleted.'),
    annotation: words('The value of reeve.dev/confirm-deletions that allows the deletions.'),
    objects: rows('The objects, by namespace.', removal),
  },
  required: ['apiVersion', 'kind', 'provider', 'forDeletion', 'maxDeletions', 'outcome', 'objects'],
});

export type ConfirmedRemoval = Infer<typeof removal>;
export type ConfirmationOutput = Infer<typeof confirmation>;

// Defines the JSON of `reeve adopt`: existing objects that a provider wants, and which of them were marked.

const failure = object({
  description: 'An object that could not be marked.',
  fields: { object: namedObject, message: words('Why, for people.') },
  required: ['object', 'message'],
});

export const adoption = object({
  description: 'What reeve adopt found and did.',
  fields: {
    ...header('Adoption'),
    provider: words('The policy, share or binding: NamespacePolicy/team.'),
    dryRun: boolean('True if nothing was to be marked.'),
    complete: boolean('False if a kind could not be read.'),
    unread: unreadKinds,
    adoptable: numberOf('How many objects Reeve would adopt once they are marked.'),
    namespaces: rows(
      'By namespace, what Reeve would do with each object once it is marked. A conflict remains one.',
      namespaceOfPlan,
    ),
    marked: rows('The objects that were marked.', namedObject),
    failed: rows('The objects that could not be marked.', failure),
  },
  required: [
    'apiVersion',
    'kind',
    'provider',
    'dryRun',
    'complete',
    'unread',
    'adoptable',
    'namespaces',
    'marked',
    'failed',
  ],
});

export const adoptionList = object({
  description: 'What reeve adopt -f found and did, for each policy, share and binding of the files.',
  fields: {
    ...header('AdoptionList'),
    items: rows('One for each policy, share or binding.', adoption),
  },
  required: ['apiVersion', 'kind', 'items'],
});

export type AdoptionOutput = Infer<typeof adoption>;
