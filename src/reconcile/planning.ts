// Builds the parts that plan: the observed state, the desired state, and the fuse between both. `reeve plan` feeds them once.
import { providesFields, type ProviderDefinition } from '../policy/compile/load-provider.ts';
import { type FuseOptions, Fuse } from './fuse/fuse.ts';
import { UndesiredObjects, DesiredCache } from './fuse/undesired-objects.ts';
import { ObservedAccounts } from './live/observed-accounts.ts';
import { ObservedObjects } from './live/observed-objects.ts';
import { Sources } from './live/sources.ts';
import { wantedWatches } from './live/watches.ts';
import { NamespaceAudits } from './namespace/namespace-audits.ts';
import { NamespacePlanner } from './namespace/namespace-planner.ts';
import type { PlanContext } from './ports.ts';

export type Planning = ReturnType<typeof assemblePlanning>;

export function assemblePlanning(context: PlanContext, fuseOptions: FuseOptions) {
  const { cluster, install } = context;
  // Observed state: live objects and sources. Policies, shares and Namespaces come with `cluster`.
  const objects = new ObservedObjects();
  const accounts = new ObservedAccounts();
  const needAccounts = (definition: ProviderDefinition | undefined): void => {
    if (providesFields(definition)) accounts.need();
  };
  // The watches of policies may have read some already.
  for (const { definition } of cluster.providers()) needAccounts(definition);
  cluster.subscribe({ affecting: ({ after }) => needAccounts(after?.definition) });
  const sources = new Sources(context);
  const watches = wantedWatches(install, objects, sources);
  // Derived state: desired objects, undesired objects, and the verdict of the deletion fuse.
  const desiredCache = new DesiredCache(context);
  const undesired = new UndesiredObjects(context, objects, desiredCache);
  const fuse = new Fuse(context, objects, undesired, fuseOptions);
  const planner = new NamespacePlanner(context, { desiredCache, objects, accounts, sources, fuse });
  const audits = new NamespaceAudits(context);
  return { objects, accounts, sources, watches, desiredCache, undesired, fuse, planner, audits };
}
