// Defines the fields that policies, shares and bindings have in common: name, metadata, deletion and suspension.
import { boolean, choice, integer, text, withDefault, map, openObject } from '../schema/build.ts';
import { metadataKey, namespaceName } from '../schema/common-fields.ts';
import type { TextSchema } from '../schema/schema.ts';

export const providerName = text({
  description: 'The name of the object.',
  maxLength: 63,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  accepted: 'a name of at most 63 small letters, digits, - and ., with a letter or digit at both ends',
});

interface Words {
  /** The word for the kind. */
  readonly provider: 'policy' | 'share' | 'binding';
  /** The objects that it provides. */
  readonly provided: 'contents' | 'copies' | 'objects';
  /** The end of the sentence about what is suspended. */
  readonly whileSuspended: string;
}

export function providerFields({ provider, provided, whileSuspended }: Words) {
  return {
    deletionPolicy: withDefault(
      choice(
        `What happens to the ${provided} when the ${provider} is deleted or no longer matches. Delete deletes them. Orphan leaves them in the namespace, without the label and annotation of Reeve. Default: Delete.`,
        ['Delete', 'Orphan'],
      ),
      'Delete',
    ),
    maxDeletions: withDefault(
      integer({
        description:
          'How many objects one change may delete. A change that deletes more is refused, or its deletions wait, until the annotation reeve.dev/confirm-deletions allows at least that number. Default: 20.',
        minimum: 0,
        maximum: 1_000_000,
      }),
      20,
    ),
    suspend: withDefault(
      boolean(
        `Whether to stop creating, changing and deleting the ${provided}${whileSuspended} Deleting a suspended ${provider} leaves its ${provided} in place. Default: false.`,
      ),
      false,
    ),
    contact: text({
      description: `Where people ask about the ${provider}: a URL, an address or the name of a team. A refusal of an object by the ${provider} ends with it.`,
      minLength: 1,
      maxLength: 200,
      // A line break would look like a second message in a terminal.
      pattern: '^[^\\x00-\\x1f\\x7f]+$',
      accepted: 'one line of text',
    }),
  };
}

const value = text({ description: 'Any text.', maxLength: 262_144 });
const key = metadataKey('A label or annotation key.');

function metadataFields(name: TextSchema) {
  return {
    name,
    labels: map({ description: 'Labels.', keys: key, values: value, maxProperties: 10_000 }),
    annotations: map({ description: 'Annotations.', keys: key, values: value, maxProperties: 10_000 }),
  };
}

export function objectMetadata(name: TextSchema) {
  return openObject({
    description: 'Standard metadata.',
    fields: metadataFields(name),
    required: ['name'],
  });
}

/** The metadata of an object in a namespace. */
export function namespacedMetadata(name: TextSchema) {
  return openObject({
    description: 'Standard metadata.',
    fields: { ...metadataFields(name), namespace: namespaceName('The namespace of the object.') },
    required: ['name', 'namespace'],
  });
}
