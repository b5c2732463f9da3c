// Defines the JSON of `reeve import`: our objects, the steps of the move, and everything that could not be carried over.
import { object, openObject, type Infer } from '../../schema/schema.ts';
import { numberOf, header, namedObject, rows, words } from './parts.ts';

const origin = object({
  description: 'Where something came from.',
  fields: {
    object: namedObject,
    path: words('The path of the field in that object. Missing for the object as a whole.'),
    file: words('The file. Missing for a cluster.'),
    line: numberOf('The line at which the object starts, from 1. Missing for a cluster.'),
  },
  required: ['object'],
});

const imported = object({
  description: 'An object of ours.',
  fields: {
    from: rows('What it replaces.', origin),
    object: openObject({ description: 'The object, as to be applied.', fields: {} }),
  },
  required: ['from', 'object'],
});

const lost = object({
  description:
    'Something that the older tool does and Reeve will not do. Values are left out: they may be secret.',
  fields: {
    from: origin,
    why: words('Why it could not be carried over.'),
    instead: words('What a person can do instead.'),
  },
  required: ['from', 'why'],
});

export const importOutput = object({
  description: 'What reeve import found and made.',
  fields: {
    ...header('Import'),
    source: words('The tool that was imported from.'),
    objects: rows('Our objects.', imported),
    adopt: rows('Commands that hand the objects of the older tool over to Reeve.', words('A command.')),
    steps: rows(
      'What to do, in this order. The commands of adopt are among them.',
      words('A step, or a command.'),
    ),
    notes: rows('What else to know.', words('A note.')),
    lost: rows('What could not be carried over.', lost),
  },
  required: ['apiVersion', 'kind', 'source', 'objects', 'adopt', 'steps', 'notes', 'lost'],
});

export type ImportOrigin = Infer<typeof origin>;
export type ImportedObject = Infer<typeof imported>;
export type LostField = Infer<typeof lost>;
export type ImportOutput = Infer<typeof importOutput>;
