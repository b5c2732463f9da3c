// Keeps the status and the finalizer of one policy or share.
import { KubeError } from '../../base/kube-error.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { kindOfProvider, type ProviderId, type ProviderState } from '../../policy/terms/provider-id.ts';
import { providerStatus, type StatusFacts } from '../../policy/status/provider-status.ts';
import type { BlockerFacts } from '../../policy/status/provider-conditions.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import { problemsText, type LoadedProvider } from '../../state/stored-provider.ts';
import type { EventAnnouncer } from '../events.ts';
import type { Finalizers } from '../finalizers.ts';
import type { Fuse } from '../fuse/fuse.ts';
import type { InitialSync } from '../initial-sync.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import type { ProviderBlockers } from './provider-blockers.ts';
import type { ProviderLedger } from '../ledger.ts';
import type { ProviderStatuses } from './provider-statuses.ts';
import type { Clock } from '../../base/clock.ts';
import type { ReconcileObserver } from '../ports.ts';
import { done, type Attempt, type Handled, type WorkQueue } from '../queue/queue.ts';
import { unsyncedKinds, type ProvidedScope } from '../live/watches.ts';
import { classifyWriteError } from '../namespace/write-error.ts';

export interface ProviderWorkerOptions extends ProvidedScope {
  readonly cluster: LiveCluster;
  readonly ledger: ProviderLedger;
  readonly objects: ObservedObjects;
  readonly fuse: Fuse;
  readonly finalizers: Finalizers;
  readonly statuses: ProviderStatuses;
  readonly blockers: ProviderBlockers;
  readonly announcer: EventAnnouncer;
  readonly observer: ReconcileObserver;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly initialSync: Pick<InitialSync, 'isDone'>;
  readonly providerQueue: Pick<WorkQueue<ProviderId>, 'addAfter'>;
}

/** For so long after a change, what the namespaces say of it is waited for before anything is written. */
const settleMs = 1000;
/** For so long, one that goes waits for kinds of which nothing is known: the API server may never serve them. */
const unknownKindsMs = 60_000;
/** At most one status in so long. */
const coalesceMs = 500;

export class ProviderWorker {
  readonly #options: ProviderWorkerOptions;
  readonly #writtenAt = new Map<ProviderId, number>();
  readonly #held = new Set<ProviderId>();
  /** By UID, since when owners that go have been ready to but for kinds that are not known. */
  readonly #goingSince = new Map<string, number>();

  constructor(options: ProviderWorkerOptions) {
    this.#options = options;
  }

  /** Forgets everything: this process is no longer the leader. */
  reset(): void {
    this.#options.blockers.clear();
    for (const known of [this.#writtenAt, this.#held, this.#goingSince]) known.clear();
  }

  async reconcile(owner: ProviderId, { signal }: Attempt): Promise<Handled> {
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
      if (this.#options.initialSync.isDone && this.#isDue(owner)) await this.#keepStatus(owner, signal);
      return done;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return this.#failed(owner, error);
    }
  }

  #forget(owner: ProviderId): void {
    const { ledger, statuses, blockers } = this.#options;
    ledger.forgetProvider(owner);
    blockers.forget(owner);
    statuses.forget(owner);
    for (const known of [this.#writtenAt, this.#held]) known.delete(owner);
  }

  /**
   * Whether nothing holds the owner any more. Objects that are being deleted already, or whose namespaces are going or
   * are not ours to touch, hold nothing.
   */
  async #letGo(state: ProviderState, signal: AbortSignal): Promise<boolean> {
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
  #unknownKindsOf({ id, uid, isDeleting, hasFinalizer }: ProviderState): readonly string[] {
    const { objects, clock, providerQueue } = this.#options;
    if (!isDeleting || !hasFinalizer) return [];
    const kinds = unsyncedKinds(kindOfProvider(id), this.#options, objects);
    if (kinds.length === 0) return [];
    const now = clock.monotonic();
    const since = this.#goingSince.get(uid) ?? now;
    this.#goingSince.set(uid, since);
    const left = since + unknownKindsMs - now;
    if (left <= 0) return [];
    providerQueue.addAfter(id, left);
    return kinds;
  }

  /** Otherwise it comes back when it is. */
  #isDue(owner: ProviderId): boolean {
    const { ledger, clock, providerQueue } = this.#options;
    const now = clock.monotonic();
    const waiting = ledger.waiting(owner);
    const settles = waiting === undefined ? now : waiting.since + settleMs;
    const due = Math.max(settles, (this.#writtenAt.get(owner) ?? -Infinity) + coalesceMs);
    if (due <= now) return true;
    providerQueue.addAfter(owner, due - now);
    return false;
  }

  async #keepStatus(owner: ProviderId, signal: AbortSignal): Promise<void> {
    const { cluster, statuses, blockers, clock } = this.#options;
    const before = cluster.owner(owner);
    if (before === undefined) return;
    const blockerFacts = await blockers.of(before, signal);
    const loaded = cluster.owner(owner);
    if (loaded === undefined) return;
    const wrote = await statuses.keep(
      loaded.state,
      (stored) => providerStatus(this.#factsOf(owner, loaded, blockerFacts), stored, clock.now()),
      signal,
    );
    if (wrote) this.#writtenAt.set(owner, clock.monotonic());
  }

  #factsOf(
    owner: ProviderId,
    { state, definition, problems }: LoadedProvider,
    blockerFacts: BlockerFacts,
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
      ...blockerFacts,
      matched: tally.matched,
      violations: tally.violations(quota),
      isConfirmationSpent: waiting === 0 && !state.isDeleting && fuse.outstanding(owner) === 0,
    };
  }

  /** Told once, when it begins. */
  #heldBy({ id, isDeleting }: ProviderState): StatusFacts['held'] {
    const { fuse, announcer, observer } = this.#options;
    const verdict = isDeleting || fuse.outstanding(id) === 0 ? undefined : fuse.verdictOf(id);
    if (verdict?.kind !== 'hold') {
      this.#held.delete(id);
      return undefined;
    }
    const { count, limit } = verdict;
    if (!this.#held.has(id)) {
      this.#held.add(id);
      observer.deletionsHeld(id, count, limit);
      announcer.provider(
        id,
        'TooManyDeletions',
        `${count} objects would be deleted, and maxDeletions is ${limit}`,
      );
    }
    return { count, limit };
  }

  #failed(owner: ProviderId, error: KubeError): Handled {
    const writeError = classifyWriteError(error, 'change');
    if (writeError.kind === 'transient') return { kind: 'retry', minDelayMs: writeError.minDelayMs };
    // Not found: the watch will report the deletion.
    if (writeError.kind !== 'permanent') return done;
    this.#options.observer.unexpectedError(`status or finalizer of ${owner}`, error);
    return { kind: 'retry', minDelayMs: writeError.minDelayMs ?? settleMs };
  }
}
