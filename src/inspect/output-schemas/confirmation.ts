// Defines the JSON of `reeve confirm`: the objects that a confirmation lets Reeve delete, and the annotation.
import { boolean, choice, object } from '../../schema/build.ts';
import type { Infer } from '../../schema/schema.ts';
import { numberOf, header, namedObject, rows, words } from './parts.ts';

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
