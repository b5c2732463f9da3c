// The control plane of this worker, for the tests that share it. Without a control plane those tests are skipped.
import { describe, inject } from 'vitest';
import { ClusterAccess } from '../cluster/cluster-access.ts';
import type { ProvidedCluster } from './control-plane.ts';

const { skipIf } = describe;

/** Groups tests that need a control plane: the shared one, or their own that they may break. */
export const describeCluster = skipIf(cluster().kind === 'none');

/** Groups tests that also need the controllers: aggregated roles, deletion of namespaces, garbage collection. */
export const describeControllers = skipIf(!hasControllers(cluster()));

/** Works only inside `describeCluster` or `describeControllers`. */
export function sharedCluster(): ClusterAccess {
  const found = cluster();
  if (found.kind === 'none') throw new Error(`no control plane: ${found.reason}`);
  // Counts from 1. https://vitest.dev/guide/parallelism: no two files run at the same time with the same number.
  const plane = found.planes[Number(process.env['VITEST_POOL_ID']) - 1];
  if (plane === undefined) throw new Error('there are more workers than control planes');
  return new ClusterAccess(plane.folder, plane);
}

/** False for a file that starts a control plane of its own: that is a real one. */
export function isOnSandbox(): boolean {
  const found = cluster();
  return found.kind === 'running' && found.planes.some(({ isSandbox }) => isSandbox === true);
}

function cluster(): ProvidedCluster {
  return inject('cluster');
}

function hasControllers(found: ProvidedCluster): boolean {
  return found.kind === 'running' && found.hasControllers;
}
