// Defines the fields that policies, shares and bindings have in common: name, metadata, deletion and suspension.
import {
  boolean,
  choice,
  integer,
  text,
  withDefault,
  map,
  openObject,
  type TextSchema,
} from '../schema/schema.ts';
import { metadataKey, namespaceName } from '../schema/common-fields.ts';

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

// Defines the columns of `kubectl get` that policies, shares and bindings have in common.

export interface PrintColumn {
  readonly name: string;
  readonly type: 'integer' | 'string' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Columns above 0 are shown with `-o wide` only. */
  readonly priority?: number;
}

export const sharedColumns = {
  matched: {
    name: 'Matched',
    type: 'integer',
    jsonPath: '.status.matched',
    description: 'How many namespaces it matches.',
  },
  desired: {
    name: 'Desired',
    type: 'integer',
    jsonPath: '.status.desired',
    description: 'How many objects it wants in these namespaces.',
  },
  synced: {
    name: 'Synced',
    type: 'integer',
    jsonPath: '.status.synced',
    description: 'How many of these objects exist and match.',
  },
  conflicts: {
    name: 'Conflicts',
    type: 'integer',
    jsonPath: '.status.conflicts',
    description:
      'How many of these objects have the name of an object that Reeve does not own for this policy or share.',
  },
  failed: {
    name: 'Failed',
    type: 'integer',
    jsonPath: '.status.failed',
    description: 'How many of these objects could not be created or changed.',
    priority: 1,
  },
  skipped: {
    name: 'Skipped',
    type: 'integer',
    jsonPath: '.status.skipped',
    description: 'How many objects namespaces do not get, because they lack a label or annotation.',
    priority: 1,
  },
  ready: {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether all desired objects exist and match.',
  },
  reason: {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why it is ready or not ready.',
  },
  age: {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: 'When it was created.',
  },
} as const satisfies Record<string, PrintColumn>;

export function suspendedColumn(provided: 'contents' | 'copies' | 'objects'): PrintColumn {
  return {
    name: 'Suspended',
    type: 'boolean',
    jsonPath: '.spec.suspend',
    description: `Whether Reeve leaves the ${provided} unchanged.`,
    priority: 1,
  };
}
