// Sets how many test files run at once. Each file that needs a cluster has a control plane to itself.

/** The tests on a cluster wait more than they work. */
export const clusterWorkers = 4;
