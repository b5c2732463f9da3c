// Defines the JSON of `reeve adopt`: existing objects that a provider wants, and which of them were marked.
import { boolean, object } from '../../schema/build.ts';
import type { Infer } from '../../schema/schema.ts';
import { numberOf, header, namedObject, rows, unreadKinds, words } from './parts.ts';
import { namespaceOfPlan } from './plan-output.ts';

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
