// Fields of all kinds that provide objects: how each is named, and what may become of what it provides.
import { boolean, choice, integer, text, withDefault, map, openObject } from './schema/build.ts';
import { metadataKey } from './common-fields.ts';
import type { TextSchema } from './schema/schema.ts';

export const providerName = text({
  description: 'The name of the object.',
  maxLength: 63,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  accepted: 'a name of at most 63 small letters, digits, - and ., with a letter or digit at both ends',
});

interface Words {
  /** What the kind is called. */
  readonly provider: 'policy' | 'share';
  /** What it provides. */
  readonly provided: 'contents' | 'copies';
  /** What suspending it means, beside the obvious. */
  readonly whileSuspended: string;
}

export function providerFields({ provider, provided, whileSuspended }: Words) {
  return {
    deletionPolicy: withDefault(
      choice(
        `What becomes of the ${provided} when the ${provider} goes or no longer matches. Delete removes them. Orphan leaves them to the namespace, without the marks of Reeve. Default: Delete.`,
        ['Delete', 'Orphan'],
      ),
      'Delete',
    ),
    maxDeletions: withDefault(
      integer({
        description:
          'How many objects one change may delete. A change beyond it is refused, or held up, until the annotation reeve.dev/confirm-deletions states at least that number. Default: 20.',
        minimum: 0,
        maximum: 1_000_000,
      }),
      20,
    ),
    suspend: withDefault(
      boolean(
        `Whether to stop creating, changing and deleting the ${provided}${whileSuspended} Deleting a suspended ${provider} leaves its ${provided} where they are. Default: false.`,
      ),
      false,
    ),
  };
}

const value = text({ description: 'Any text.', maxLength: 262_144 });
const key = metadataKey('A label or annotation key.');

export function objectMetadata(name: TextSchema) {
  return openObject({
    description: 'Standard metadata.',
    fields: {
      name,
      labels: map({ description: 'Labels.', keys: key, values: value, maxProperties: 10_000 }),
      annotations: map({ description: 'Annotations.', keys: key, values: value, maxProperties: 10_000 }),
    },
    required: ['name'],
  });
}
