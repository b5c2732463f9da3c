// Sets how many test files run at once. Each file that needs a cluster has a control plane to itself.
import { availableParallelism } from 'node:os';

/** Two for each core, because the tests on a cluster wait more than they work. Each control plane needs half a gigabyte. */
export const clusterWorkers = workersFor(availableParallelism());

export function workersFor(cores: number): number {
  return Math.min(Math.max(2 * cores, 2), 8);
}
