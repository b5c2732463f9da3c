// Defines what the outputs of all commands share: the header, texts without limits, the name of an object.
import { cliApiVersion } from '../../schema/names.ts';
import {
  choice,
  integer,
  list,
  object,
  text,
  type ListSchema,
  type Infer,
  type Schema,
  type TextSchema,
} from '../../schema/schema.ts';

/** Outputs describe what exists, so no text is too long. The generator leaves such a limit out. */
const unlimited = Number.MAX_SAFE_INTEGER;

export function words(description: string): TextSchema {
  return text({ description, maxLength: unlimited });
}

export function numberOf(description: string) {
  return integer({ description, minimum: 0, maximum: unlimited });
}

export function rows<S extends Schema>(description: string, items: S): ListSchema<Infer<S>> {
  return list({ description, items, maxItems: unlimited });
}

/** The first two fields of every output. */
export function header<const K extends string>(kind: K) {
  return {
    apiVersion: choice('The version of this format. Within a version, fields can only be added.', [
      cliApiVersion,
    ]),
    kind: choice('What this output is.', [kind]),
  };
}

export const namedObject = object({
  description: 'An object of the cluster.',
  fields: {
    apiVersion: words('Its group and version.'),
    kind: words('Its kind.'),
    namespace: words('Its namespace. Missing for a cluster-scoped kind.'),
    name: words('Its name.'),
  },
  required: ['apiVersion', 'kind', 'name'],
});

export const unreadKinds = rows(
  'Kinds that could not be read. They never count as "there are none".',
  object({
    description: 'A kind that could not be read.',
    fields: { kind: words('The kind.'), reason: words('Why it could not be read.') },
    required: ['kind', 'reason'],
  }),
);

/** What a rule or a match compared. */
export const comparison = {
  path: words('The path of the value.'),
  found: words('The value that was found.'),
  accepted: words('The values that are accepted.'),
};
