// The reconciler as a whole: what it has to be told, when it works, and how it is doing.
import { observeSecret } from '../policy/plan/observed.ts';
import { assemble, type Assembly, type AssemblyOptions } from './assembly.ts';
import { Dispatcher } from './dispatcher.ts';
import { FirstState } from './live/first-state.ts';
import { pause } from '../base/pause.ts';
import { isAborted } from '../base/abort.ts';
import type { OwnSecrets } from './ports.ts';
import { wantedWatches, type WantedWatch } from './live/watches.ts';

export type { WantedWatch };

export interface ReconcilerOptions extends AssemblyOptions {
  readonly ownSecrets: OwnSecrets;
  /** How often all is looked at again; ten minutes unless given. */
  readonly resyncMs?: number;
}

export interface ReconcilerHealth {
  /** Whether every watch that is needed has told its state once. */
  readonly isSynced: boolean;
  /** Whether all namespaces have been looked at since the lead was taken. */
  readonly hasPassed: boolean;
  /** Namespaces that wait, and those that are worked on. */
  readonly queued: number;
  readonly running: number;
  /** How long the namespace that has waited longest has been known to need work; 0 when none does. */
  readonly oldestUnreconciledMs: number;
  /** Nothing is ready to be worked on or running, statuses and conditions included. */
  readonly isIdle: boolean;
  /** On the monotonic clock, when the next work is due by itself: a retry, a status, an expiry. */
  readonly nextDue: number | undefined;
}

export interface Reconciler {
  readonly watches: readonly WantedWatch[];
  /**
   * Works until the signal aborts: call it when the lead is taken, and again when it is regained. Writes in flight are
   * aborted with the signal. Resolves when nothing runs any more.
   */
  run(signal: AbortSignal): Promise<void>;
  health(): ReconcilerHealth;
}

export function createReconciler(options: ReconcilerOptions): Reconciler {
  return new Controller(options);
}

const usualResyncMs = 600_000;

class Controller implements Reconciler {
  readonly watches: readonly WantedWatch[];
  readonly #options: ReconcilerOptions;
  readonly #parts: Assembly;
  readonly #dispatcher: Dispatcher;
  readonly #firstState: FirstState;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    const dispatcher = new Dispatcher(options);
    this.#dispatcher = dispatcher;
    this.#parts = assemble(options, dispatcher);
    dispatcher.attach(this.#parts);
    this.watches = wantedWatches(options, this.#parts.objects, this.#parts.sources);
    this.#firstState = new FirstState({ ...options, ...this.#parts, watches: this.watches });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { namespaces, owners, conditions } = this.#parts;
    await this.#firstState.synced(signal);
    if (isAborted(signal)) return;
    await this.#prime(signal);
    if (isAborted(signal)) return;
    this.#dispatcher.begin();
    try {
      await Promise.all([
        namespaces.run(signal),
        owners.run(signal),
        conditions.queue.run(signal),
        this.#resync(signal),
      ]);
    } finally {
      this.#dispatcher.end();
    }
  }

  health(): ReconcilerHealth {
    const { namespaces, owners, conditions } = this.#parts;
    const queues = [namespaces, owners, conditions.queue];
    const dues = queues.flatMap(({ nextDue }) => nextDue ?? []);
    return {
      isSynced: this.#firstState.isSynced,
      hasPassed: this.#dispatcher.hasPassed,
      queued: namespaces.queued,
      running: namespaces.running,
      oldestUnreconciledMs: namespaces.oldestMs(),
      isIdle: queues.every(({ isIdle }) => isIdle),
      nextDue: dues.length === 0 ? undefined : Math.min(...dues),
    };
  }

  /** Learns what our copies hold from a few large answers, so that not each of them has to be read by itself. */
  async #prime(signal: AbortSignal): Promise<void> {
    const { objects } = this.#parts;
    try {
      for await (const secret of this.#options.ownSecrets.listOwnSecrets(signal)) {
        objects.read(observeSecret(secret));
        if (isAborted(signal)) return;
      }
    } catch (error) {
      // Then each is read when its namespace is looked at.
      if (!isAborted(signal)) this.#options.observer.faulted('list of our Secrets', error);
    }
  }

  async #resync(signal: AbortSignal): Promise<void> {
    const { resyncMs = usualResyncMs } = this.#options;
    for (;;) {
      await pause(this.#options.time, resyncMs, signal);
      if (isAborted(signal)) return;
      this.#dispatcher.addAll();
    }
  }
}
