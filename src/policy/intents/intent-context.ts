// Says with what a binding is compiled: the intents by name, and which adapters are there.
import type { ObjectType } from '../terms/object-key.ts';
import type { AdapterSettings, Intent, IntentAdapter } from './adapter.ts';
import { FormCache } from './form-cache.ts';

export interface IntentContext {
  /**
   * By name. `invalid`: the intent is stored, but this process has seen no version of it that loads. `lost`: it was deleted because
   * its CustomResourceDefinition was.
   */
  readonly intents: ReadonlyMap<string, Intent | 'invalid' | 'lost'>;
  /** The API server does not serve the kind, so an intent that is not stored may have been lost. */
  readonly isKindMissing?: boolean;
  /** All adapters that the program has, in their order. */
  readonly adapters: readonly AdapterState[];
  readonly settings: AdapterSettings;
  /** What bindings compile to in this context alone. */
  readonly forms?: FormCache;
}

export interface AdapterState {
  readonly adapter: IntentAdapter;
  /** Undefined: the adapter renders what it supports. */
  readonly absence?: Absence | undefined;
}

interface Absence {
  readonly reason: 'NotOffered' | 'NotServed' | 'Lacking';
  /** A clause that can follow "but". */
  readonly message: string;
}

export interface AdapterSetup {
  /** The adapters of `--intent-adapter`. Undefined: all. */
  readonly offered: ReadonlySet<string> | undefined;
  readonly isServed: (type: ObjectType) => boolean;
  readonly settings: AdapterSettings;
}

export function adapterStates(
  adapters: readonly IntentAdapter[],
  setup: AdapterSetup,
): readonly AdapterState[] {
  return adapters.map((adapter) => ({ adapter, absence: absenceOf(adapter, setup) }));
}

function absenceOf(
  { id, needs, lacks }: IntentAdapter,
  { offered, isServed, settings }: AdapterSetup,
): Absence | undefined {
  if (offered?.has(id) === false)
    return { reason: 'NotOffered', message: 'this installation does not offer it (--intent-adapter)' };
  const missing = lacks?.(settings);
  if (missing !== undefined) return { reason: 'Lacking', message: missing };
  const unserved = needs
    .filter((type) => !isServed(type))
    .map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  if (unserved.length === 0) return undefined;
  return { reason: 'NotServed', message: `the API server does not serve ${unserved.join(' and ')}` };
}

/**
 * Returns the context as if the API server served the kinds of all adapters. Authors need the rights for all of them, because a
 * CustomResourceDefinition that comes later must give no author more than the author may do. The same context where all are served.
 */
export function withAllServed(context: IntentContext): IntentContext {
  if (context.adapters.every(({ absence }) => absence?.reason !== 'NotServed')) return context;
  const adapters = context.adapters.map((state) =>
    state.absence?.reason === 'NotServed' ? { adapter: state.adapter } : state,
  );
  return { ...context, adapters, forms: new FormCache() };
}

/** Returns the context with another version of one intent. Undefined: without the intent. */
export function withIntent(context: IntentContext, name: string, intent: Intent | undefined): IntentContext {
  const intents = new Map(context.intents);
  if (intent === undefined) intents.delete(name);
  else intents.set(name, intent);
  return { ...context, intents, forms: new FormCache() };
}

/** For callers that need only the identity of a binding. */
export const noIntents: IntentContext = {
  intents: new Map(),
  adapters: [],
  settings: { tlsScanImage: undefined },
};
