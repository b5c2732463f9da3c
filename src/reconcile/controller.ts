// Runs the reconciler as a whole, and reports its watches and its state.
import type { Clock } from '../base/clock.ts';
import { isAborted, pause } from '../base/abort.ts';
import { nameOf } from '../base/metadata.ts';
import { providesFields } from '../policy/compile/load-provider.ts';
import { observeAccount } from '../policy/plan/account.ts';
import { observeObject } from '../policy/plan/observed.ts';
import { assembleReconciler, type Assembly, type AssemblyOptions } from './assembly.ts';
import type { WantedWatch } from './live/watches.ts';
import type { NamespaceConditions } from './namespace/namespace-conditions.ts';
import type { Planning } from './planning.ts';
import type { OwnSecrets, ReconcileContext, SelfReviewer } from './ports.ts';
import { groupOf, secretObjectType } from '../base/object-type.ts';
import type { ProviderWorker } from './provider/provider-worker.ts';
import type { Handler, WorkQueue } from './queue/queue.ts';

export interface ReconcilerOptions extends AssemblyOptions {
  readonly ownSecrets: OwnSecrets;
  /** How often everything is reconciled again. Default: ten minutes. */
  readonly resyncMs?: number;
  /** Wraps the handler of each queue. Default: the handler itself. */
  readonly traced?: <K>(queue: string, handler: Handler<K>) => Handler<K>;
}

interface ReconcilerHealth {
  /** True when every required watch has delivered its first complete list. */
  readonly isSynced: boolean;
  /** True when every namespace has been reconciled since this process became the leader. */
  readonly isInitialSyncDone: boolean;
  /** Namespaces that wait to be reconciled. */
  readonly queued: number;
  readonly running: number;
  /** The time for which the oldest waiting namespace has needed work. 0 if no namespace waits. */
  readonly oldestUnreconciledMs: number;
  /** True when no key of any queue is ready or running. */
  readonly isIdle: boolean;
  /** When the next delayed key of any queue is due, on the monotonic clock: a retry, a status, an expiry. */
  readonly nextDue: number | undefined;
}

interface ReconcilerNumbers {
  readonly providers: ReturnType<ProviderWorker['numbers']>;
  readonly namespaces: ReturnType<NamespaceConditions['counts']>;
}

export interface Reconciler {
  readonly watches: readonly WantedWatch[];
  /**
   * Works until the signal aborts. Call it each time this process becomes the leader. Aborts the writes in flight with the
   * signal, and resolves when nothing runs any more.
   */
  run(signal: AbortSignal): Promise<void>;
  health(): ReconcilerHealth;
  /** Returns the numbers of the statuses. Undefined before the first statuses are written. */
  numbers(): ReconcilerNumbers | undefined;
}

export function createReconciler(options: ReconcilerOptions): Reconciler {
  return new Controller(options);
}

const defaultResyncMs = 600_000;

class Controller implements Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #clock: Clock;
  readonly #parts: Assembly;
  readonly #watchSync: WatchSync;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#parts = assembleReconciler(options);
    const { context, planning } = this.#parts;
    this.#watchSync = new WatchSync(context, planning, options.selfReviewer);
  }

  get watches(): readonly WantedWatch[] {
    return this.#parts.watches;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#watchSync.wait(signal);
    if (!isAborted(signal)) await this.#readOwnSecrets(signal);
    if (!isAborted(signal)) await this.#findFields(signal);
    if (isAborted(signal)) return;
    this.#begin();
    try {
      await this.#work(signal);
    } finally {
      this.#end();
    }
  }

  health(): ReconcilerHealth {
    const { context } = this.#parts;
    const { namespaceQueue } = context;
    const queues = [
      namespaceQueue,
      context.providerQueue,
      context.conditionQueue,
      context.auditQueue,
      context.reportQueue,
      context.accessQueue,
      context.claimQueue,
    ];
    const dueTimes = queues.flatMap(({ nextDue }) => nextDue ?? []);
    return {
      isSynced: this.#watchSync.isSynced,
      isInitialSyncDone: this.#parts.initialSync.isDone,
      queued: namespaceQueue.queued,
      running: namespaceQueue.running,
      oldestUnreconciledMs: namespaceQueue.oldestMs(),
      isIdle: queues.every(({ isIdle }) => isIdle),
      nextDue: dueTimes.length === 0 ? undefined : Math.min(...dueTimes),
    };
  }

  numbers(): ReconcilerNumbers | undefined {
    const { initialSync, providerWorker, conditions } = this.#parts;
    if (!initialSync.isDone) return undefined;
    return { providers: providerWorker.numbers(), namespaces: conditions.counts() };
  }

  /** Reads the content of our copies in a few large answers. Otherwise, each copy would cost a request. */
  async #readOwnSecrets(signal: AbortSignal): Promise<void> {
    try {
      for await (const secret of this.#options.ownSecrets.listOwnSecrets(signal)) {
        this.#parts.planning.objects.read(observeObject(secretObjectType, secret));
        if (isAborted(signal)) return;
      }
    } catch (error) {
      // Otherwise, each copy is read when its namespace is reconciled.
      if (!isAborted(signal)) this.#options.observer.unexpectedError('list of our Secrets', error);
    }
  }

  /** Finds fields that a policy lost while no leader ran. Only the ServiceAccounts still show them. */
  async #findFields(signal: AbortSignal): Promise<void> {
    const { accounts } = this.#parts.planning;
    if ([...this.#options.cluster.providers()].some(({ definition }) => providesFields(definition))) return;
    try {
      for await (const each of this.#options.auditReader.listExisting('serviceaccounts', undefined, signal)) {
        if (isAborted(signal)) return;
        if (observeAccount(each).managers.length === 0) continue;
        accounts.need();
        return;
      }
    } catch (error) {
      if (!isAborted(signal)) this.#options.observer.unexpectedError('list of ServiceAccounts', error);
    }
  }

  #begin(): void {
    const { planning, ledger, dispatcher, initialSync, sweeps, reportKeeper, access, claimKeeper } =
      this.#parts;
    // Another leader may have changed everything that was reported here earlier.
    ledger.clear();
    planning.fuse.begin([...this.#options.cluster.snapshot().namespaces()].map(nameOf));
    dispatcher.begin();
    initialSync.begin();
    sweeps.begin();
    reportKeeper?.begin();
    access.begin();
    claimKeeper?.begin();
  }

  async #work(signal: AbortSignal): Promise<void> {
    const {
      context,
      namespaceWorker,
      providerWorker,
      conditions,
      sweeps,
      reportKeeper,
      access,
      claimKeeper,
      initialSync,
    } = this.#parts;
    const { traced = (_queue, handler) => handler } = this.#options;
    const run = async <K>(name: string, queue: WorkQueue<K>, handler: Handler<K>): Promise<void> =>
      await queue.run(traced(name, handler), signal);
    await Promise.all([
      run('namespace', context.namespaceQueue, namespaceWorker.reconcile.bind(namespaceWorker)),
      run('provider', context.providerQueue, providerWorker.reconcile.bind(providerWorker)),
      run('condition', context.conditionQueue, conditions.write.bind(conditions)),
      run('audit', context.auditQueue, sweeps.sweep.bind(sweeps)),
      reportKeeper && run('report', context.reportQueue, reportKeeper.write.bind(reportKeeper)),
      run('access', context.accessQueue, access.endIfDue.bind(access)),
      claimKeeper && run('claim', context.claimQueue, claimKeeper.keep.bind(claimKeeper)),
      initialSync.endWhenStuck(signal),
      this.#resync(signal),
    ]);
  }

  #end(): void {
    const {
      dispatcher,
      initialSync,
      conditions,
      providerWorker,
      announcer,
      sweeps,
      reportKeeper,
      access,
      claimKeeper,
    } = this.#parts;
    announcer.flush();
    sweeps.end();
    reportKeeper?.end();
    access.end();
    claimKeeper?.end();
    dispatcher.end();
    initialSync.reset();
    conditions.reset();
    providerWorker.reset();
  }

  async #resync(signal: AbortSignal): Promise<void> {
    const { resyncMs = defaultResyncMs } = this.#options;
    for (;;) {
      await pause(this.#clock, resyncMs, signal);
      if (isAborted(signal)) return;
      this.#parts.dispatcher.enqueueAll();
      this.#parts.claimKeeper?.enqueueAll();
    }
  }
}

// Waits until every watch has delivered its first complete list. Watches that our account may not use do not count.

const pollMs = 20;
/** The wait for optional kinds, and the interval of questions about the rights of the other watches. */
const patienceMs = 2000;

class WatchSync {
  readonly #context: ReconcileContext;
  readonly #planning: Planning;
  readonly #selfReviewer: SelfReviewer;
  /** Watches that our account has no right to. Statuses name the missing right. */
  readonly #forbidden = new Set<WantedWatch>();

  constructor(context: ReconcileContext, planning: Planning, selfReviewer: SelfReviewer) {
    this.#context = context;
    this.#planning = planning;
    this.#selfReviewer = selfReviewer;
  }

  get isSynced(): boolean {
    return this.#context.cluster.isSynced && this.#pending(false).every((each) => this.#forbidden.has(each));
  }

  /** Polls, because the watches have no common event for their first lists. */
  async wait(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    let askAt = clock.monotonic() + patienceMs;
    while (!isAborted(signal) && !this.isSynced) {
      await pause(clock, pollMs, signal);
      if (isAborted(signal) || clock.monotonic() < askAt) continue;
      await this.#reviewPending(signal);
      askAt = clock.monotonic() + patienceMs;
    }
    const until = clock.monotonic() + patienceMs;
    while (!isAborted(signal) && this.#pending(true).length > 0 && clock.monotonic() < until)
      await pause(clock, pollMs, signal);
  }

  #pending(isOptional: boolean): readonly WantedWatch[] {
    const { watches, objects, sources } = this.#planning;
    return watches.filter(
      (watch) =>
        watch.isOptional === isOptional &&
        !(watch.namespace === undefined
          ? objects.isKnown({ type: watch.type, name: watch.name ?? '' })
          : sources.isSyncedIn(watch.type, watch.namespace)),
    );
  }

  async #reviewPending(signal: AbortSignal): Promise<void> {
    for (const watch of this.#pending(false)) {
      if (await this.#isForbidden(watch, signal)) this.#forbidden.add(watch);
      else this.#forbidden.delete(watch);
    }
  }

  async #isForbidden({ type, namespace, name }: WantedWatch, signal: AbortSignal): Promise<boolean> {
    const { install } = this.#context;
    const resource = {
      group: groupOf(type.apiVersion),
      resource: install.resourceOf(type),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
    try {
      const answers = await Promise.all(
        ['list', 'watch'].map((verb) => this.#selfReviewer.mayDo({ ...resource, verb }, signal)),
      );
      return answers.includes('no');
    } catch (error) {
      if (isAborted(signal)) return false;
      throw error;
    }
  }
}
