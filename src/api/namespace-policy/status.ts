// What Reeve reports about a policy.
import { choice, integer, list, object, text } from '../schema/build.ts';
import { time } from '../common-fields.ts';

function count(description: string) {
  return integer({ description, minimum: 0, maximum: 2_147_483_647 });
}

function note(description: string) {
  return text({ description, maxLength: 1024 });
}

const topViolation = object({
  description: 'A rule that a namespace breaks.',
  fields: {
    namespace: note('The namespace.'),
    rule: note('The rule, by its path in the spec.'),
    path: note('Where in the Namespace.'),
    found: note('What is there.'),
    accepted: note('What would be accepted.'),
  },
  required: ['namespace', 'rule'],
});

const failure = object({
  description: 'An object that is not as the policy wants it.',
  fields: {
    namespace: note('The namespace.'),
    kind: note('The kind of the object.'),
    name: note('The name of the object.'),
    reason: note('Why, in one word.'),
    message: note('Why, in a sentence.'),
  },
  required: ['namespace', 'reason'],
});

const condition = object({
  description: 'One aspect of the state of the policy.',
  fields: {
    type: text({ description: 'The aspect: Ready, Reconciling or Stalled.', minLength: 1, maxLength: 316 }),
    status: choice('Whether it holds.', ['True', 'False', 'Unknown']),
    observedGeneration: integer({
      description: 'The generation of the policy that the condition speaks of.',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
    lastTransitionTime: time('When status last changed.'),
    reason: text({ description: 'Why, in one word.', minLength: 1, maxLength: 1024 }),
    message: text({ description: 'Why, in a sentence.', maxLength: 32_768 }),
  },
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
});

export const status = object({
  description: 'What Reeve reports about the policy; written by Reeve alone.',
  fields: {
    observedGeneration: integer({
      description: 'The generation of the policy that this status speaks of.',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
    matched: count('How many namespaces the policy matches.'),
    desired: count('How many objects the policy wants, over all matched namespaces.'),
    synced: count('How many of them are there and as they should be.'),
    conflicts: count('How many of them have the name of an object that somebody else owns.'),
    failed: count('How many of them could not be made or changed.'),
    violations: count('How many rules are broken by namespaces that are already there.'),
    topViolations: list({ description: 'Some of those violations.', items: topViolation, maxItems: 20 }),
    failures: list({ description: 'Some of the conflicts and failures.', items: failure, maxItems: 20 }),
    confirmationUsed: note('The value of the annotation reeve.dev/confirm-deletions that has been spent.'),
    conditions: list({
      description:
        'Ready: all that is desired is there. Reconciling: work is under way. Stalled: somebody must act first; its reason says why.',
      items: condition,
      maxItems: 16,
      unique: { key: 'type' },
    }),
  },
});
