// The status of a binding, and the columns that `kubectl get` prints for intents and bindings.
import { policyStatusFields } from '../namespace-policy/status.ts';
import { sharedColumns, suspendedColumn, type PrintColumn } from '../print-columns.ts';
import { list, object } from '../../schema/build.ts';
import { count, note } from '../status-fields.ts';

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

export const securityIntentColumns: readonly PrintColumn[] = [
  { name: 'ID', type: 'string', jsonPath: '.spec.id', description: 'What must hold.' },
  {
    name: 'Action',
    type: 'string',
    jsonPath: '.spec.action',
    description: 'What happens to what violates the intent.',
  },
  { name: 'Severity', type: 'string', jsonPath: '.spec.severity', description: 'How bad a violation is.' },
  age,
];

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
