// The control plane of this run, for the tests that share it; without one they count as skipped.
import { describe, inject } from 'vitest';
import { ClusterAccess } from '../cluster/cluster-access.ts';
import type { ProvidedCluster } from './control-plane.ts';

const { skipIf } = describe;

/** For all that need a control plane, be it this one or one of their own that they may break. */
export const describeCluster = skipIf(cluster().kind === 'none');

/** For those that also need its controllers: aggregated roles, deletion of namespaces, garbage collection. */
export const describeControllers = skipIf(!hasControllers(cluster()));

/** Only inside such a block. */
export function sharedCluster(): ClusterAccess {
  const found = cluster();
  if (found.kind === 'none') throw new Error(`no control plane: ${found.reason}`);
  return new ClusterAccess(found.folder, found);
}

function cluster(): ProvidedCluster {
  return inject('cluster');
}

function hasControllers(found: ProvidedCluster): boolean {
  return found.kind === 'running' && found.hasControllers;
}
