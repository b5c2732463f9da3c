// The recorded costs that the simulation uses, each with the run that showed it.

export interface ScaleCosts {
  /** Processor time of the leader for a namespace, and for each write with its event and its watch event. */
  readonly planMs: number;
  readonly writeProcessorMs: number;
  /** How long a write takes while so many are in progress. Ascending. */
  readonly writes: readonly { readonly inProgress: number; readonly ms: number }[];
  /** Requests of one priority level that an API server handles at once. */
  readonly seats: number;
  /** Namespaces that a leader handles at once. */
  readonly concurrency: number;
  /** Processor time for a listed object, and for a changed object of another owner. */
  readonly listMs: number;
  readonly eventMs: number;
  /** From the start of a process until it lists objects. */
  readonly startMs: number;
  /** The longest time until a standby takes the Lease of a leader that was killed. */
  readonly leaseMs: number;
  /** Resident memory without namespaces, and for a namespace as for an object in it. */
  readonly baseMiB: number;
  readonly objectKiB: number;
}

/**
 * Recorded on 2 quiet cores (AMD EPYC) that also ran etcd and the API server, in November 2026, with the image's program and
 * one policy and one share for all namespaces, which is 3 objects and a condition in each:
 * `npm run bench -- --policies=1 --namespaces=1000`, and the same with 5000.
 */
export const recordedCosts: ScaleCosts = {
  // In memory, 10,000 namespaces with nothing to do take half a second.
  planMs: 0.05,
  // 5,000 namespaces: 17.8 s of processor time for 20,000 writes, with 3,000 Kubernetes events.
  writeProcessorMs: 0.89,
  // A loop that applies Secrets of 1 kB: 260, 625, 1,020 and 1,457 a second. etcd joins the writes of a moment.
  writes: [
    { inProgress: 1, ms: 3.8 },
    { inProgress: 16, ms: 25.6 },
    { inProgress: 32, ms: 31.4 },
    { inProgress: 64, ms: 43.9 },
  ],
  // workload-low: 100 of 245 shares of 600. https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
  seats: 245,
  // The default of --concurrency.
  concurrency: 16,
  // A restart: 0.9 s of processor time with 1,020 namespaces and 2.2 s with 5,020. Plans need 0.2 s of the difference.
  listMs: 0.07,
  // The standby: 3.1 s of processor time for the watch events of 23,000 writes.
  eventMs: 0.13,
  startMs: 600,
  // The Lease of 15 s, and 2 s between two looks at it.
  leaseMs: 17_000,
  // The leader after a restart: 164 MiB with 1,020 namespaces, 312 MiB with 5,020. Half of the growth is freed memory.
  baseMiB: 126,
  objectKiB: 9.5,
};

/** Returns the time of a write beside so many others, on a line between the recorded points. */
export function writeMsBeside({ writes }: ScaleCosts, inProgress: number): number {
  const above = writes.findIndex((point) => point.inProgress >= inProgress);
  const end = above === -1 ? writes.length - 1 : Math.max(1, above);
  const [from, to] = [writes[end - 1], writes[end]];
  if (from === undefined || to === undefined) throw new Error('two recorded points are needed');
  const slope = (to.ms - from.ms) / (to.inProgress - from.inProgress);
  return Math.max(from.ms + (inProgress - from.inProgress) * slope, writes[0]?.ms ?? 0);
}
