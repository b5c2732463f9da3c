// How many test files run at once: each of those on a cluster has a control plane to itself.

/** The tests on a cluster wait more than they work. */
export const clusterWorkers = 3;
