// Defines the kind SecurityIntentBinding, and the fields that both kinds of bindings have.
import type { Problem } from '../../base/problem.ts';
import { defineKind, type ObjectOfKind } from '../kind.ts';
import {
  providerFields,
  providerName,
  sharedColumns,
  suspendedColumn,
  type PrintColumn,
} from '../provider-fields.ts';
import { list, object, specification } from '../../schema/schema.ts';
import { count, note } from '../status-fields.ts';
import { workloads, workloadSelector, type WorkloadsSpec } from './workloads.ts';
import { policyStatusFields } from '../namespace-policy/status.ts';

// The status of a binding, and the columns that `kubectl get` prints.

const rendered = object({
  description: 'A kind of object that an adapter gives for an intent.',
  fields: {
    adapter: note('The adapter.'),
    intent: note('The name of the intent.'),
    kind: note('The kind of the object.'),
    name: note('The name of the object in each namespace.'),
  },
  required: ['adapter', 'intent', 'kind', 'name'],
});

const unsupported = object({
  description: 'An intent that no adapter supports here.',
  fields: {
    intent: note('The name of the intent.'),
    id: note('The id of the intent.'),
    adapters: list({
      description: 'The adapters that would support it. None if no adapter can.',
      items: note('An adapter.'),
      maxItems: 20,
    }),
    message: note('What is missing.'),
  },
  required: ['intent', 'id', 'message'],
});

export const bindingStatus = object({
  description: 'What Reeve reports about the binding; written by Reeve alone.',
  fields: {
    intents: count('How many of the intents exist and can be read.'),
    boundIntents: list({
      description: 'The names of these intents.',
      items: note('The name of an intent.'),
      maxItems: 20,
    }),
    rendered: list({
      description: 'At most 100 of the objects and namespace rules that keep the intents.',
      items: rendered,
      maxItems: 100,
    }),
    unsupported: list({
      description: 'The intents that no adapter supports here. The others are kept.',
      items: unsupported,
      maxItems: 20,
    }),
    ...policyStatusFields({
      provider: 'binding',
      conditionTypes: 'Ready, IntentsResolved, Reconciling, Stalled or Expensive',
      conditionMeanings:
        'Ready: all intents are resolved, and all desired objects exist and match. IntentsResolved: all intents exist, and an adapter supports each; the others are kept meanwhile. Reconciling: Reeve is working on the objects. Stalled: Reeve cannot continue until a person acts; the reason says why. Expensive: the binding costs too much in a namespace.',
    }),
  },
});

const { matched, desired, synced, conflicts, failed, ready, reason, age } = sharedColumns;

export const bindingColumns: readonly PrintColumn[] = [
  {
    name: 'Intents',
    type: 'integer',
    jsonPath: '.status.intents',
    description: 'How many of the intents exist and can be read.',
  },
  matched,
  desired,
  synced,
  { ...conflicts, priority: 1 },
  failed,
  suspendedColumn('objects'),
  ready,
  { ...reason, priority: 1 },
  age,
];

export const bindingFields = {
  intents: list({
    description: 'The names of the SecurityIntents that must hold. Example: [escape-to-host].',
    items: { ...providerName, description: 'The name of a SecurityIntent. It may be created later.' },
    minItems: 1,
    maxItems: 20,
    unique: 'set',
  }),
  workloads,
  ...providerFields({
    provider: 'binding',
    provided: 'objects',
    whileSuspended: '. Rules on Namespaces still apply.',
  }),
} as const;

const spec = specification({
  description: 'Which intents must hold in the namespace of the binding, and for which Pods.',
  fields: bindingFields,
  required: ['intents'],
});

export const intentBinding = defineKind({
  kind: 'SecurityIntentBinding',
  plural: 'securityintentbindings',
  shortName: 'sib',
  word: 'binding',
  scope: 'Namespaced',
  mayBeMissing: true,
  description:
    'SecurityIntentBinding says which SecurityIntents must hold in its own namespace. Reeve creates and keeps the objects that the security engines need for them.',
  spec,
  status: bindingStatus,
  columns: bindingColumns,
  problemsOf: workloadProblems,
});

export type IntentBinding = ObjectOfKind<typeof intentBinding>;

export function workloadProblems({
  workloads: given,
}: {
  readonly workloads?: WorkloadsSpec;
}): readonly Problem[] {
  const selected = workloadSelector(given);
  return selected.ok ? [] : selected.problems;
}
