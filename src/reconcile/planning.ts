// Builds the parts of the reconciler that plan: what is there, what is wanted, and the fuse between both.
import type { Clock } from '../base/clock.ts';
import { providesFields } from '../policy/compile/load-provider.ts';
import type { Install } from '../policy/terms/install.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { Fuse, type FuseOptions } from './fuse/fuse.ts';
import { UndesiredObjects, DesiredCache } from './fuse/undesired-objects.ts';
import { ObservedAccounts } from './live/observed-accounts.ts';
import { ObservedObjects } from './live/observed-objects.ts';
import { Sources } from './live/sources.ts';
import { wantedWatches } from './live/watches.ts';
import { Audits } from './namespace/audits.ts';
import { NamespacePlanner } from './namespace/namespace-planner.ts';
import type { KindProbe } from './ports.ts';
import type { ObjectWriter } from '../base/object-writer.ts';

interface PlanningOptions extends Pick<FuseOptions, 'changed' | 'isPlan' | 'times'> {
  readonly install: Install;
  /** Policies, shares and Namespaces. The caller feeds it. */
  readonly cluster: LiveCluster;
  readonly writer: Pick<ObjectWriter, 'read'>;
  readonly kinds: KindProbe;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly orphaned: FuseOptions['orphaned'];
}

export type Planning = ReturnType<typeof assemblePlanning>;

/** `reeve plan` builds the same parts, and feeds them once. */
export function assemblePlanning(options: PlanningOptions) {
  const { cluster, install, writer, clock } = options;
  // Observed state: live objects and sources. Policies, shares and Namespaces come with `cluster`.
  const objects = new ObservedObjects();
  const accounts = new ObservedAccounts();
  cluster.subscribe((change) => {
    if (change.kind === 'provider' && providesFields(change.after?.definition)) accounts.need();
  });
  const sources = new Sources({ install, writer, cluster });
  const watches = wantedWatches(install, objects, sources);
  // Derived state: desired objects, undesired objects, and the verdict of the deletion fuse.
  const desiredCache = new DesiredCache({ cluster, clock });
  const undesired = new UndesiredObjects({ cluster, objects, desiredCache, clock });
  const fuse = new Fuse({ ...options, objects, undesired });
  const planner = new NamespacePlanner({
    install,
    cluster,
    desiredCache,
    objects,
    accounts,
    sources,
    fuse,
    writer,
    clock,
  });
  const audits = new Audits({ cluster, clock });
  return { objects, accounts, sources, watches, desiredCache, undesired, fuse, planner, audits };
}
