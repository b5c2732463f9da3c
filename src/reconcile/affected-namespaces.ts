// Finds the namespaces that a provider affects.
import { type KubeObject, nameOf } from '../base/metadata.ts';
import { isDear } from '../policy/decide/cost.ts';
import { CountingBudget, unlimitedBudget } from '../policy/terms/budget.ts';
import { matchNamespace, type CompiledMatch } from '../policy/terms/match.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { LoadedProvider } from '../state/stored-provider.ts';
import type { ProviderLedger } from './ledger.ts';
import type { ObservedObjects } from './live/observed-objects.ts';

interface AffectedScope {
  readonly cluster: LiveCluster;
  readonly ledger: ProviderLedger;
  readonly objects: ObservedObjects;
}

/** Returns the namespaces that reported on the provider, that it matches now or at a high cost, or where it owns objects. */
export function affectedNamespaces(
  id: ProviderId,
  { cluster, ledger, objects }: AffectedScope,
): ReadonlySet<string> {
  const names = new Set<string>([...ledger.tallyOf(id).namespaces, ...objects.countsOf(id).keys()]);
  const match: CompiledMatch | undefined = cluster.provider(id)?.definition?.compiled.match;
  if (match === undefined) return names;
  for (const namespaceObject of candidates(match, cluster)) {
    const name = nameOf(namespaceObject);
    if (names.has(name) || cluster.isExcluded(name)) continue;
    const budget = new CountingBudget(unlimitedBudget);
    // A namespace that does not match reports the cost of the match if it is high.
    if (matchNamespace(match, namespaceObject, budget).kind !== 'no' || isDear(budget.units)) names.add(name);
  }
  // A namespace that does not exist never reports, so nothing may wait for it.
  return new Set([...names].filter((name) => cluster.namespace(name) !== undefined));
}

/** Looks names up where the match lists them all: thousands of tenants may have a binding of their own namespace each. */
function candidates({ names }: CompiledMatch, cluster: LiveCluster): Iterable<KubeObject> {
  if (names?.every(({ exact }) => exact) !== true) return cluster.snapshot().namespaces();
  return names.flatMap(({ source }) => cluster.namespace(source) ?? []);
}

/** Returns whether the provider owns objects in the namespace, or may soon create some. */
export function mayAffect(
  namespace: string,
  { state, definition }: LoadedProvider,
  { cluster, objects }: Pick<AffectedScope, 'cluster' | 'objects'>,
): boolean {
  if (objects.countsOf(state.id).has(namespace)) return true;
  const namespaceObject = cluster.namespace(namespace);
  if (definition === undefined || namespaceObject === undefined || cluster.isExcluded(namespace))
    return false;
  return matchNamespace(definition.compiled.match, namespaceObject).kind !== 'no';
}
