// Who has to be looked at after a change: which namespaces, and which policies and shares.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { readyCondition } from '../api/names.ts';
import { matchNamespace, type CompiledMatch } from '../policy/terms/match.ts';
import { nameOf } from '../base/metadata.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import type { ProviderChange } from '../state/live-providers.ts';
import type { LoadedProvider } from '../state/stored-provider.ts';
import type { ObservedObjects } from './live/observed-objects.ts';
import type { ProviderLedger } from './ledger.ts';

/** Whether the change can make a difference in any namespace; a status that was written does not. */
export function concernsNamespaces({ before, after }: Pick<ProviderChange, 'before' | 'after'>): boolean {
  return before?.definition !== after?.definition || !isDeepStrictEqual(steering(before), steering(after));
}

/** What of its state decides about objects. */
function steering(loaded: LoadedProvider | undefined): unknown {
  if (loaded === undefined) return undefined;
  const {
    resourceVersion: _version,
    generation: _generation,
    hasFinalizer: _finalizer,
    ...rest
  } = loaded.state;
  return rest;
}

/**
 * Whether nothing has changed but our own condition: most likely we have written it, and what could not be done before
 * will not be possible because of it.
 */
export function differsInReadinessAlone(before: KubeObject | undefined, after: KubeObject): boolean {
  return before !== undefined && isDeepStrictEqual(withoutReadiness(before), withoutReadiness(after));
}

function withoutReadiness({ metadata, status, ...rest }: KubeObject): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  const { conditions, ...others } = isJsonObject(status) ? status : {};
  const theirs = Array.isArray(conditions)
    ? conditions.filter((condition) => ownMember(condition, 'type') !== readyCondition)
    : [];
  return { ...rest, metadata: kept, status: { ...others, conditions: theirs } };
}

/** The namespaces that it has reached, that it reaches now, and where objects name it. */
export function namespacesOf(
  owner: ProviderId,
  after: LoadedProvider | undefined,
  {
    snapshot,
    ledger,
    objects,
  }: {
    readonly snapshot: ClusterSnapshot;
    readonly ledger: ProviderLedger;
    readonly objects: ObservedObjects;
  },
): ReadonlySet<string> {
  const names = new Set<string>([...ledger.tallyOf(owner).namespaces, ...objects.countsOf(owner).keys()]);
  const match: CompiledMatch | undefined = after?.definition?.compiled.match;
  if (match === undefined) return names;
  for (const namespaceObject of snapshot.namespaces()) {
    const name = nameOf(namespaceObject);
    if (names.has(name) || snapshot.policies.isExcluded(name)) continue;
    if (matchNamespace(match, namespaceObject).kind !== 'no') names.add(name);
  }
  // Those that are not there, or are left alone, would be waited for in vain.
  return new Set([...names].filter((name) => snapshot.namespace(name) !== undefined));
}

/** Whether the owner has objects in the namespace, or may be about to. */
export function isReached(
  namespace: string,
  { state, definition }: LoadedProvider,
  { snapshot, objects }: { readonly snapshot: ClusterSnapshot; readonly objects: ObservedObjects },
): boolean {
  if (objects.countsOf(state.id).has(namespace)) return true;
  const namespaceObject = snapshot.namespace(namespace);
  if (definition === undefined || namespaceObject === undefined || snapshot.policies.isExcluded(namespace))
    return false;
  return matchNamespace(definition.compiled.match, namespaceObject).kind !== 'no';
}
