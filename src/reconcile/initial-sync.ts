// Tracks the initial sync: every namespace is reconciled once after this process has become the leader.
import { isAborted, pause } from '../base/abort.ts';
import { nameOf } from '../base/metadata.ts';
import type { Clock } from '../base/clock.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { mayAffect } from './affected-namespaces.ts';
import type { ProviderLedger } from './ledger.ts';
import type { ObservedObjects } from './live/observed-objects.ts';
import type { ReconcileObserver } from './ports.ts';
import type { WorkQueue } from './queue/queue.ts';

interface InitialSyncOptions {
  readonly cluster: LiveCluster;
  readonly objects: ObservedObjects;
  readonly ledger: ProviderLedger;
  readonly providerQueue: Pick<WorkQueue<ProviderId>, 'add'>;
  readonly observer: Pick<ReconcileObserver, 'initialSyncDone'>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
}

interface Progress {
  /** Namespaces that have not been reconciled yet. */
  readonly pending: Set<string>;
  readonly namespaces: number;
  readonly began: number;
  /** When the last namespace was reconciled. */
  progressAt: number;
}

/** When no pending namespace is reconciled for so long, the initial sync ends without them. */
const maxIdleMs = 15_000;

export class InitialSync {
  readonly #options: InitialSyncOptions;
  #progress: Progress | undefined;
  #isDone = false;

  constructor(options: InitialSyncOptions) {
    this.#options = options;
    options.cluster.subscribe((change) => {
      if (change.kind === 'namespace' && change.after === undefined) this.reconciled(change.name);
    });
  }

  /** No status of a provider is written before: its numbers would miss the namespaces that have not reported. */
  get isDone(): boolean {
    return this.#isDone;
  }

  begin(): void {
    const { cluster, clock } = this.#options;
    const names = [...cluster.snapshot().namespaces()].map(nameOf);
    const began = clock.monotonic();
    this.#progress = { pending: new Set(names), namespaces: names.length, began, progressAt: began };
    this.#endIfComplete();
  }

  /** Forgets everything: this process is no longer the leader. */
  reset(): void {
    this.#progress = undefined;
    this.#isDone = false;
  }

  /** Call it when a namespace has been reconciled, is deleted, or keeps failing. */
  reconciled(namespace: string): void {
    const progress = this.#progress;
    if (progress?.pending.delete(namespace) !== true) return;
    progress.progressAt = this.#options.clock.monotonic();
    this.#endIfComplete();
  }

  /** Ends the initial sync when it is stuck. Resolves when it has ended or the signal aborts. */
  async endWhenStuck(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!isAborted(signal) && this.#progress !== undefined) {
      const left = this.#progress.progressAt + maxIdleMs - clock.monotonic();
      if (left <= 0) this.#endIncomplete(this.#progress);
      else await pause(clock, left, signal);
    }
  }

  /** The statuses then say how many namespaces have not reported yet. */
  #endIncomplete({ pending }: Progress): void {
    const { cluster, ledger } = this.#options;
    for (const provider of cluster.providers()) {
      const names = [...pending].filter((name) => mayAffect(name, provider, this.#options));
      ledger.expectAny(provider.state.id, names);
    }
    pending.clear();
    this.#endIfComplete();
  }

  #endIfComplete(): void {
    if (this.#progress === undefined || this.#progress.pending.size > 0) return;
    const { namespaces, began } = this.#progress;
    const { cluster, providerQueue, observer, clock } = this.#options;
    this.#progress = undefined;
    this.#isDone = true;
    for (const { state } of cluster.providers()) providerQueue.add(state.id);
    observer.initialSyncDone({ namespaces, milliseconds: clock.monotonic() - began });
  }
}
