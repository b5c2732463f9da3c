// What Reeve reports about each kind that provides objects.
import { time } from './common-fields.ts';
import { choice, integer, list, object, text } from './schema/build.ts';
import { isJsonObject } from '../base/json.ts';
import type { Infer, Schema } from './schema/schema.ts';
import { validate } from './schema/validate.ts';

export function count(description: string) {
  return integer({ description, minimum: 0, maximum: 2_147_483_647 });
}

export function note(description: string) {
  return text({ description, maxLength: 1024 });
}

interface Words {
  /** What the kind is called. */
  readonly provider: 'policy' | 'share';
  /** Where it wants objects. */
  readonly where: string;
  /** The types of its conditions. */
  readonly conditionTypes: string;
  /** What those say. */
  readonly conditionMeanings: string;
}

export function statusFields({ provider, where, conditionTypes, conditionMeanings }: Words) {
  return {
    observedGeneration: generation(`The generation of the ${provider} that this status speaks of.`),
    desired: count(`How many objects the ${provider} wants, over all ${where}.`),
    synced: count('How many of them are there and as they should be.'),
    conflicts: count('How many of them have the name of an object that somebody else owns.'),
    failed: count('How many of them could not be made or changed.'),
    failures: list({
      description: 'Some of the conflicts and failures.',
      items: failure(provider),
      maxItems: 20,
    }),
    confirmationUsed: note('The value of the annotation reeve.dev/confirm-deletions that has been spent.'),
    conditions: list({
      description: conditionMeanings,
      items: condition(provider, conditionTypes),
      maxItems: 16,
      unique: { key: 'type' },
    }),
  };
}

function generation(description: string) {
  return integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
}

function failure(provider: string) {
  return object({
    description: `An object that is not as the ${provider} wants it.`,
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

function condition(provider: string, types: string) {
  return object({
    description: `One aspect of the state of the ${provider}.`,
    fields: {
      type: text({ description: `The aspect: ${types}.`, minLength: 1, maxLength: 316 }),
      status: choice('Whether it holds.', ['True', 'False', 'Unknown']),
      observedGeneration: generation(`The generation of the ${provider} that the condition speaks of.`),
      lastTransitionTime: time('When status last changed.'),
      reason: text({ description: 'Why, in one word.', minLength: 1, maxLength: 1024 }),
      message: text({ description: 'Why, in a sentence.', maxLength: 32_768 }),
    },
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  });
}

interface SplitObject {
  readonly rest: unknown;
  readonly reported: unknown;
}

export function splitStatus(value: unknown): SplitObject {
  if (!isJsonObject(value) || !Object.hasOwn(value, 'status')) return { rest: value, reported: undefined };
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'status'));
  return { rest, reported: value['status'] };
}

/** One that is not as the schema says is as good as none. */
export function readStatus<S extends Schema>(schema: S, reported: unknown): { readonly status?: Infer<S> } {
  if (reported === undefined) return {};
  const outcome = validate(schema, reported);
  return outcome.ok ? { status: outcome.value } : {};
}
