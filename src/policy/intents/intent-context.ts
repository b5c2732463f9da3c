// Says with what a provider is compiled: intents by name, which adapters are there, and the variables of the cluster.
import { anyInstall, isProvided, type Install } from '../terms/install.ts';
import type { ObjectType } from '../../base/object-type.ts';
import { isIntentId, knownIntents } from '../../api/intents/intent-ids.ts';
import type { AdapterSettings, Intent, IntentAdapter, Target } from './adapter.ts';
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
  /** See `Install.clusterVariables`. */
  readonly cluster: Install['clusterVariables'];
  /** What bindings compile to in this context alone. */
  readonly forms?: FormCache;
}

interface AdapterState {
  readonly adapter: IntentAdapter;
  /** Undefined: the adapter renders what it supports. */
  readonly absence?: Absence | undefined;
}

interface Absence {
  readonly reason: 'NotOffered' | 'NotServed' | 'Lacking';
  /** A clause that can follow "but". */
  readonly message: string;
}

/** Where no install was found, the defaults say nothing of the kinds that the install will allow. */
export function adapterSettings({ tlsScanImage, resourceKinds, isAssumed }: Install): AdapterSettings {
  return { tlsScanImage, resourceKinds: isAssumed ? undefined : resourceKinds };
}

export function adapterStates(
  adapters: readonly IntentAdapter[],
  install: Install,
  isServed: (type: ObjectType) => boolean,
): readonly AdapterState[] {
  return adapters.map((adapter) => ({ adapter, absence: absenceOf(adapter, install, isServed) }));
}

function absenceOf(
  { id, needs, lacks }: IntentAdapter,
  install: Install,
  isServed: (type: ObjectType) => boolean,
): Absence | undefined {
  if (install.adapters?.has(id) === false)
    return { reason: 'NotOffered', message: 'this installation does not offer it (--intent-adapter)' };
  const missing = lacks?.(adapterSettings(install));
  if (missing !== undefined) return { reason: 'Lacking', message: missing };
  const unserved = needs
    .filter((type) => !isServed(type))
    .map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  if (unserved.length === 0) return undefined;
  return { reason: 'NotServed', message: `the API server does not serve ${unserved.join(' and ')}` };
}

/** The adapters that render, or that will render once the API server serves their kinds. */
export function presentAdapters(adapters: readonly AdapterState[]): readonly IntentAdapter[] {
  return adapters
    .filter(({ absence }) => absence === undefined || absence.reason === 'NotServed')
    .map(({ adapter }) => adapter);
}

/** The labels that intents of any kind could set on a Namespace. */
export function possibleLabels(
  adapters: readonly IntentAdapter[],
  settings: AdapterSettings,
): readonly string[] {
  const target: Target = { workloads: undefined, isClusterWide: false, settings };
  const keys = Object.keys(knownIntents)
    .filter(isIntentId)
    .flatMap((id) =>
      (['Block', 'Audit', 'Warn'] as const).flatMap((action) => {
        const intent: Intent = { name: 'any', id, action, severity: 'Low' };
        const able = adapters.filter((adapter) => adapter.supports(intent, undefined) === true);
        return able.flatMap((adapter) =>
          Object.keys(adapter.render(intent, target).namespaces?.defaults?.labels ?? {}),
        );
      }),
    );
  return [...new Set(keys)];
}

/**
 * Returns the context as if the API server served the kinds of all adapters, and the installation allowed them. Authors need the
 * rights for all of them: neither a CustomResourceDefinition nor a setting that comes later must give an author more than the
 * author may do. The same context where all are there.
 */
export function withAllServed(context: IntentContext): IntentContext {
  const settings = { ...context.settings, resourceKinds: undefined };
  const isAllowed = (type: ObjectType): boolean => isProvided(type, context.settings);
  const isThere = ({ adapter, absence }: AdapterState): boolean =>
    absence === undefined ? adapter.provides.every(isAllowed) : absence.reason !== 'NotServed';
  if (context.adapters.every(isThere)) return context;
  const adapters = context.adapters.map((state) =>
    state.absence?.reason === 'NotServed' ? { adapter: state.adapter } : state,
  );
  return { ...context, adapters, settings, forms: new FormCache() };
}

/** Returns the context with another version of one intent. Undefined: without the intent. */
export function withIntent(context: IntentContext, name: string, intent: Intent | undefined): IntentContext {
  const intents = new Map(context.intents);
  if (intent === undefined) intents.delete(name);
  else intents.set(name, intent);
  return { ...context, intents, forms: new FormCache() };
}

/**
 * Returns the context for a binding that is created: its intents may come later, even when their kind does. The binding provides
 * nothing yet, so nothing is lost. The same context while the kind is served.
 */
export function forNewBinding(context: IntentContext): IntentContext {
  return context.isKindMissing === true
    ? { ...context, isKindMissing: false, forms: new FormCache() }
    : context;
}

/** For callers that need only the identity of a binding. */
export const noIntents: IntentContext = {
  intents: new Map(),
  adapters: [],
  settings: adapterSettings(anyInstall),
  cluster: undefined,
};
