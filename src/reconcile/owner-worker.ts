// Keeps the status and the finalizer of one policy or share.
import { KubeError } from '../api/kube-error.ts';
import { isManaged } from '../policy/contents/desired.ts';
import { kindOfOwner, type OwnerId, type OwnerKind, type OwnerState } from '../policy/owner.ts';
import { ownerStatus, type StatusFacts } from '../policy/status/owner-status.ts';
import type { HindranceFacts } from '../policy/status/owner-verdict.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { problemsText, type LoadedOwner } from '../state/stored-owner.ts';
import type { Announcer } from './events.ts';
import type { Finalizers } from './finalizers.ts';
import type { FuseBox } from './fuse-box.ts';
import type { ObservedObjects } from './observed-objects.ts';
import type { OwnerHindrances } from './owner-hindrances.ts';
import type { OwnerLedger } from './owner-ledger.ts';
import type { OwnerStatuses } from './owner-statuses.ts';
import type { ReconcileObserver, Time } from './ports.ts';
import { done, type Attempt, type Handled } from './queue.ts';
import { writeFault } from './write-fault.ts';

export interface OwnerWorkerOptions {
  readonly cluster: LiveCluster;
  readonly ledger: OwnerLedger;
  readonly objects: ObservedObjects;
  readonly fuse: FuseBox;
  readonly finalizers: Finalizers;
  readonly statuses: OwnerStatuses;
  readonly hindrances: OwnerHindrances;
  readonly announcer: Announcer;
  readonly observer: ReconcileObserver;
  readonly time: Time;
  /** What policies, or shares, may provide and is not known yet. */
  readonly unknownKinds: (owners: OwnerKind) => readonly string[];
  /** Look at the owner again then. */
  readonly again: (owner: OwnerId, milliseconds: number) => void;
}

/** For so long after a change, what the namespaces say of it is waited for before anything is written. */
const settleMs = 1000;
/** For so long, one that goes waits for kinds of which nothing is known: the API server may never serve them. */
const unknownKindsMs = 60_000;
/** At most one status in so long. */
const coalesceMs = 500;

export class OwnerWorker {
  readonly #options: OwnerWorkerOptions;
  readonly #writtenAt = new Map<OwnerId, number>();
  readonly #held = new Set<OwnerId>();
  /** By UID, since when owners that go have been ready to but for kinds that are not known. */
  readonly #goingSince = new Map<string, number>();
  #isOpen = false;

  constructor(options: OwnerWorkerOptions) {
    this.#options = options;
  }

  /** No status is written before this. */
  open(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
    this.#options.hindrances.clear();
    for (const known of [this.#writtenAt, this.#held, this.#goingSince]) known.clear();
  }

  async reconcile(owner: OwnerId, { signal }: Attempt): Promise<Handled> {
    const loaded = this.#options.cluster.owner(owner);
    if (loaded === undefined) {
      this.#forget(owner);
      return done;
    }
    try {
      if (loaded.state.isDeleting) {
        if (await this.#letGo(loaded.state, signal)) return done;
      } else if (loaded.state.provides && loaded.state.isValid)
        await this.#options.finalizers.ensure(owner, signal);
      if (this.#isOpen && this.#isDue(owner)) await this.#keepStatus(owner, signal);
      return done;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return this.#failed(owner, error);
    }
  }

  /** The cluster has gone back to an earlier state of it: what we have written since is not there any more. */
  restored(owner: OwnerId): void {
    this.#options.statuses.forget(owner);
    this.#options.finalizers.forget(owner);
  }

  #forget(owner: OwnerId): void {
    const { ledger, statuses, hindrances } = this.#options;
    ledger.forgetOwner(owner);
    hindrances.forget(owner);
    statuses.forget(owner);
    for (const known of [this.#writtenAt, this.#held]) known.delete(owner);
  }

  /**
   * Whether nothing holds the owner any more. Objects that are being deleted already, or whose namespaces are going or
   * are not ours to touch, hold nothing.
   */
  async #letGo(state: OwnerState, signal: AbortSignal): Promise<boolean> {
    const { cluster, objects, finalizers } = this.#options;
    const { id } = state;
    const snapshot = cluster.snapshot();
    const holders = [...objects.countsOf(id).keys()].some((name) => {
      const namespaceObject = snapshot.namespace(name);
      return namespaceObject !== undefined && isManaged(namespaceObject, snapshot);
    });
    if (holders || finalizers.isMaking(id) || this.#unknownKindsOf(state).length > 0) return false;
    await finalizers.remove(id, signal);
    this.#goingSince.delete(state.uid);
    return true;
  }

  /** Of which one that goes may have objects; none once it has waited for long enough to know them. */
  #unknownKindsOf({ id, uid, isDeleting, hasFinalizer }: OwnerState): readonly string[] {
    const { unknownKinds, time, again } = this.#options;
    if (!isDeleting || !hasFinalizer) return [];
    const kinds = unknownKinds(kindOfOwner(id));
    if (kinds.length === 0) return [];
    const now = time.monotonic();
    const since = this.#goingSince.get(uid) ?? now;
    this.#goingSince.set(uid, since);
    const left = since + unknownKindsMs - now;
    if (left <= 0) return [];
    again(id, left);
    return kinds;
  }

  /** Otherwise it comes back when it is. */
  #isDue(owner: OwnerId): boolean {
    const { ledger, time, again } = this.#options;
    const now = time.monotonic();
    const waiting = ledger.waiting(owner);
    const settles = waiting === undefined ? now : waiting.since + settleMs;
    const due = Math.max(settles, (this.#writtenAt.get(owner) ?? -Infinity) + coalesceMs);
    if (due <= now) return true;
    again(owner, due - now);
    return false;
  }

  async #keepStatus(owner: OwnerId, signal: AbortSignal): Promise<void> {
    const { cluster, statuses, hindrances, time } = this.#options;
    const before = cluster.owner(owner);
    if (before === undefined) return;
    const hindered = await hindrances.of(before, signal);
    const loaded = cluster.owner(owner);
    if (loaded === undefined) return;
    const wrote = await statuses.keep(
      loaded.state,
      (stored) => ownerStatus(this.#factsOf(owner, loaded, hindered), stored, time.now()),
      signal,
    );
    if (wrote) this.#writtenAt.set(owner, time.monotonic());
  }

  #factsOf(
    owner: OwnerId,
    { state, definition, problems }: LoadedOwner,
    hindered: HindranceFacts,
  ): StatusFacts {
    const { ledger, fuse } = this.#options;
    const tally = ledger.tallyOf(owner);
    const quota =
      definition?.kind === 'NamespacePolicy' ? definition.object.spec.namespaces?.quota : undefined;
    const waiting = ledger.waiting(owner)?.count ?? 0;
    return {
      state,
      problem: problems.length === 0 ? undefined : problemsText(problems),
      counts: tally.counts,
      failures: tally.failures(),
      waiting,
      held: this.#heldBy(state),
      unknownKinds: this.#unknownKindsOf(state),
      ...hindered,
      matched: tally.matched,
      violations: tally.violations(quota),
      isConfirmationSpent: waiting === 0 && !state.isDeleting && fuse.outstanding(owner) === 0,
    };
  }

  /** Told once, when it begins. */
  #heldBy({ id, isDeleting }: OwnerState): StatusFacts['held'] {
    const { fuse, announcer, observer } = this.#options;
    const verdict = isDeleting || fuse.outstanding(id) === 0 ? undefined : fuse.verdictOf(id);
    if (verdict?.kind !== 'hold') {
      this.#held.delete(id);
      return undefined;
    }
    const { count, limit } = verdict;
    if (!this.#held.has(id)) {
      this.#held.add(id);
      observer.held(id, count, limit);
      announcer.owner(
        id,
        'TooManyDeletions',
        `${count} objects would be deleted, and maxDeletions is ${limit}`,
      );
    }
    return { count, limit };
  }

  #failed(owner: OwnerId, error: KubeError): Handled {
    const fault = writeFault(error, 'change');
    if (fault.kind === 'transient') return { kind: 'retry', leastMs: fault.leastMs };
    // The watch will tell that it is gone.
    if (fault.kind !== 'lasting') return done;
    this.#options.observer.faulted(`status or finalizer of ${owner}`, error);
    return { kind: 'retry', leastMs: fault.leastMs ?? settleMs };
  }
}
