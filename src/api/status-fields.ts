// Defines the status fields that policies, shares and bindings have in common.
import { time } from '../schema/common-fields.ts';
import { choice, integer, list, object, text } from '../schema/schema.ts';

export function count(description: string) {
  return integer({ description, minimum: 0, maximum: 2_147_483_647 });
}

export function note(description: string) {
  return text({ description, maxLength: 1024 });
}

const skippedContent = object({
  description: 'An object that a namespace does not get, because it lacks a label or annotation.',
  fields: {
    namespace: note('The namespace.'),
    kind: note('The kind of the object.'),
    name: note('The name of the object.'),
    message: note('Which label or annotation is missing.'),
  },
  required: ['namespace', 'kind', 'name', 'message'],
});

export interface StatusWords {
  /** The word for the kind. */
  readonly provider: 'policy' | 'share' | 'binding';
  /** The namespaces where it wants objects. */
  readonly where: string;
  /** The types of its conditions. */
  readonly conditionTypes: string;
  /** The meaning of each condition. */
  readonly conditionMeanings: string;
}

export function statusFields({ provider, where, conditionTypes, conditionMeanings }: StatusWords) {
  return {
    observedGeneration: generation(`The generation of the ${provider} that this status describes.`),
    matched: count(`How many namespaces the ${provider} matches.`),
    matchedNamespaces: list({
      description:
        'At most 20 of these namespaces. Namespaces with failures come first, then namespaces with violations, then the others by name.',
      items: text({ description: 'A namespace.', maxLength: 63 }),
      maxItems: 20,
    }),
    desired: count(`How many objects the ${provider} wants, over all ${where}.`),
    synced: count('How many of them exist and match.'),
    conflicts: count(
      `How many of them have the name of an object that Reeve does not own for this ${provider}.`,
    ),
    failed: count(
      'How many of them could not be created or changed. A namespace for which the match has an error counts as one.',
    ),
    skipped: count(
      'How many objects are not wanted, because a namespace lacks a label or annotation that their templates look up.',
    ),
    failures: list({
      description: 'At most 20 of the conflicts and failures.',
      items: failure(provider),
      maxItems: 20,
    }),
    skippedContents: list({
      description: 'At most 20 of the skipped objects.',
      items: skippedContent,
      maxItems: 20,
    }),
    confirmationUsed: note(
      'The value of the annotation reeve.dev/confirm-deletions that has already been used.',
    ),
    held: held(provider),
    deletions,
    conditions: list({
      description: conditionMeanings,
      items: condition(provider, conditionTypes),
      maxItems: 16,
      unique: { key: 'type' },
    }),
  };
}

function held(provider: string) {
  return object({
    description: `Objects that the ${provider} no longer wants and that stay, because more than maxDeletions would be deleted. Missing while nothing is held.`,
    fields: {
      count: count('How many objects are held. The annotation reeve.dev/confirm-deletions must reach it.'),
      since: time('When the hold began.'),
    },
    required: ['count', 'since'],
  });
}

const deletions = object({
  description: 'What Reeve remembers of deletions, to count them over a restart.',
  fields: {
    recent: list({
      description: 'Deletions of the last ten minutes, or of the ten minutes before the hold.',
      items: object({
        description: 'Deletions within ten seconds.',
        fields: {
          at: time('The end of these ten seconds.'),
          count: count('How many objects were deleted.'),
        },
        required: ['at', 'count'],
      }),
      maxItems: 100,
    }),
    underway: list({
      description: 'At most 200 UIDs of objects that may be deleted now.',
      items: text({ description: 'A UID.', maxLength: 63 }),
      maxItems: 200,
    }),
  },
});

export function generation(description: string) {
  return integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
}

function failure(provider: string) {
  return object({
    description: `An object that does not match what the ${provider} wants.`,
    fields: {
      namespace: note('The namespace.'),
      kind: note('The kind of the object.'),
      name: note('The name of the object.'),
      reason: note('Why, in one word.'),
      message: note('Why, in a sentence.'),
    },
    required: ['namespace', 'reason'],
  });
}

export function condition(provider: string, types: string) {
  return object({
    description: `One aspect of the state of the ${provider}.`,
    fields: {
      type: text({ description: `The aspect: ${types}.`, minLength: 1, maxLength: 316 }),
      status: choice('Whether it holds.', ['True', 'False', 'Unknown']),
      observedGeneration: generation(`The generation of the ${provider} that the condition describes.`),
      lastTransitionTime: time('When status last changed.'),
      reason: text({ description: 'Why, in one word.', minLength: 1, maxLength: 1024 }),
      message: text({ description: 'Why, in a sentence.', maxLength: 32_768 }),
    },
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  });
}
