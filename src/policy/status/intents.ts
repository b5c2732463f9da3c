// Derives the report of a binding on its intents: the fields of its status, and the condition IntentsResolved.
import type { JsonObject } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';
import type { BindingFacts, UnsupportedIntent } from '../intents/compile-binding.ts';
import type { Condition } from '../../base/condition.ts';

/** What a status says of the intents of a binding. */
export type IntentFacts = Pick<BindingFacts, 'named' | 'bound' | 'missing' | 'rendered' | 'unsupported'>;

/** The number of entries that the CRD allows. */
const maxRendered = 100;
/** The longest text that the CRD allows in a status. */
const maxTextLength = 1024;

/** Adds intents whose objects have no place, so that nothing is rendered for them. */
export function reachedFacts(facts: IntentFacts, unreached: readonly UnsupportedIntent[]): IntentFacts {
  if (unreached.length === 0) return facts;
  const names = new Set(unreached.map(({ intent }) => intent));
  const rendered = facts.rendered.filter(({ intent }) => !names.has(intent));
  return { ...facts, rendered, unsupported: [...facts.unsupported, ...unreached] };
}

export function intentFields({ bound, rendered, unsupported }: IntentFacts): JsonObject {
  return {
    intents: bound.length,
    boundIntents: [...bound],
    rendered: rendered.slice(0, maxRendered).map((part) => ({ ...part })),
    unsupported: unsupported.map(({ message, adapters, ...rest }) => ({
      ...rest,
      adapters: [...adapters],
      message: clipped(message, maxTextLength),
    })),
  };
}

/** `facts` are missing for a binding that does not load. */
export function intentsResolved(facts: IntentFacts | undefined): Condition {
  const type = 'IntentsResolved';
  if (facts === undefined) {
    const message = 'the binding is not valid; the condition Stalled says why';
    return { type, status: 'Unknown', reason: 'Invalid', message };
  }
  const { named, missing, unsupported } = facts;
  const [absent] = missing;
  if (absent !== undefined) {
    const message = `SecurityIntent ${absent} does not exist${others(missing.length)}; create it, or remove it from spec.intents`;
    return { type, status: 'False', reason: 'IntentNotFound', message };
  }
  const [first] = unsupported;
  if (first !== undefined) {
    const { intent, id, message } = first;
    const text = `SecurityIntent ${intent} (${id}) is not kept${others(unsupported.length)}: ${message}`;
    return { type, status: 'False', reason: 'Unsupported', message: clipped(text, maxTextLength) };
  }
  const message = named.length === 1 ? 'the intent is kept' : `all ${named.length} intents are kept`;
  return { type, status: 'True', reason: 'Resolved', message };
}

function others(count: number): string {
  return count === 1 ? '' : ` (and ${count - 1} more)`;
}
