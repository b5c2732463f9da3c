// Writes the condition reeve.dev/Ready of every Namespace. Objects are written first.
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { readyCondition } from '../../schema/names.ts';
import {
  conditionOf,
  isSameCondition,
  stamped,
  type Condition,
  type StampedCondition,
} from '../../base/condition.ts';
import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/abort.ts';
import { isNewerResourceVersion } from '../../base/watch-sink.ts';
import type { LiveCluster, NamespaceChange } from '../../state/live-cluster.ts';
import { changesOnlyReadiness, wasRestored } from '../dispatcher.ts';
import type { ObjectWriter } from '../../base/object-writer.ts';
import type { ReconcileObserver } from '../ports.ts';
import { done, type Attempt, type Handled, type WorkQueue } from '../queue/queue.ts';
import { classifyWriteError } from './write-error.ts';

interface NamespaceConditionsOptions {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'subscribe'>;
  readonly writer: Pick<ObjectWriter, 'apply'>;
  readonly observer: Pick<ReconcileObserver, 'wroteOwn' | 'unexpectedError'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly namespaceQueue: Pick<WorkQueue<string>, 'isBusy' | 'calm'>;
  readonly conditionQueue: Pick<WorkQueue<string>, 'add'>;
}

interface Wanted {
  readonly condition: Condition;
  /** Since when the namespace needs another condition than it has. */
  readonly since: number;
}

interface Written {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly condition: StampedCondition | undefined;
}

/**
 * Conditions wait while namespaces wait for a place in their queue, but not longer than this. Otherwise a quarter of the writes
 * of a burst would be conditions, and delay the objects. The first conditions wait in their handlers, the others in the queue.
 */
const maxDeferMs = 5000;
const retryRefusedMs = 2000;

export class NamespaceConditions {
  readonly #options: NamespaceConditionsOptions;
  /** Conditions that still have to be written. */
  readonly #wanted = new Map<string, Wanted>();
  /** The last condition of each namespace, written or not. */
  readonly #last = new Map<string, Condition>();
  /** Our own writes, until the watch has reported them. */
  readonly #written = new Map<string, Written>();

  constructor(options: NamespaceConditionsOptions) {
    this.#options = options;
    options.cluster.subscribe({ namespace: (change) => this.#namespaceChanged(change) });
  }

  want(name: string, condition: Condition): void {
    this.#last.set(name, condition);
    if (isSameCondition(condition, this.#currentOf(name))) {
      this.#wanted.delete(name);
      return;
    }
    const since = this.#wanted.get(name)?.since ?? this.#options.clock.monotonic();
    this.#wanted.set(name, { condition, since });
    this.#options.conditionQueue.add(name);
  }

  forget(name: string): void {
    this.#last.delete(name);
    this.#wanted.delete(name);
    this.#written.delete(name);
  }

  /** Counts the namespaces by their last condition, for the metrics. */
  counts(): { readonly ready: number; readonly notReady: number } {
    let ready = 0;
    for (const { status } of this.#last.values()) if (status === 'True') ready += 1;
    return { ready, notReady: this.#last.size - ready };
  }

  /** Forgets what was wanted: this process is no longer the leader. */
  reset(): void {
    for (const known of [this.#last, this.#wanted]) known.clear();
  }

  /** Handles one key of the condition queue. */
  async write(name: string, { signal }: Attempt): Promise<Handled> {
    const { clock, writer, observer, conditionQueue, cluster } = this.#options;
    const waiting = this.#wanted.get(name);
    if (waiting !== undefined) await this.#objectsFirst(waiting, signal);
    const wanted = this.#wanted.get(name);
    const namespaceObject = cluster.snapshot().namespace(name);
    if (wanted === undefined || namespaceObject === undefined || signal.aborted) return done;
    const condition = stamped(wanted.condition, this.#currentOf(name), clock.now());
    try {
      const options = { force: true, subresource: 'status', signal } as const;
      this.#remember(name, await writer.apply(applied(namespaceObject, condition), options));
    } catch (error) {
      return this.#failed(error);
    }
    observer.wroteOwn('condition');
    if (this.#wanted.get(name) === wanted) this.#wanted.delete(name);
    // Another condition is wanted since the write began.
    else conditionQueue.add(name);
    return done;
  }

  #namespaceChanged(change: NamespaceChange): void {
    const { name, before, after } = change;
    if (before?.metadata.uid !== after?.metadata.uid) this.forget(name);
    // The condition that we wrote after the backup was taken is lost.
    else if (wasRestored(change)) this.#written.delete(name);
    const last = this.#last.get(name);
    // Any other change brings the whole namespace to the namespace queue, and its condition with it.
    if (last !== undefined && after !== undefined && changesOnlyReadiness(before, after))
      this.want(name, last);
  }

  /** Returns early when the signal aborts. */
  async #objectsFirst({ since }: Wanted, signal: AbortSignal): Promise<void> {
    const { clock, namespaceQueue } = this.#options;
    const left = since + maxDeferMs - clock.monotonic();
    if (left <= 0 || !namespaceQueue.isBusy) return;
    const over = new AbortController();
    await Promise.race([namespaceQueue.calm(), pause(clock, left, AbortSignal.any([signal, over.signal]))]);
    over.abort();
  }

  #remember(name: string, answer: KubeObject): void {
    const { uid, resourceVersion } = answer.metadata;
    if (typeof resourceVersion !== 'string') return;
    const condition = conditionOf(answer['status'], readyCondition);
    this.#written.set(name, { uid, resourceVersion, condition });
  }

  #failed(error: unknown): Handled {
    // The namespace was deleted and created again (its UID differs): the watch will report that.
    if (error instanceof KubeError && error.code === 422) return done;
    const writeError = classifyWriteError(error, 'change');
    if (writeError.kind === 'transient') return { kind: 'retry', minDelayMs: writeError.minDelayMs };
    if (writeError.kind !== 'permanent') return done;
    this.#options.observer.unexpectedError('the condition of a namespace', error);
    return { kind: 'retry', minDelayMs: writeError.minDelayMs ?? retryRefusedMs };
  }

  #currentOf(name: string): StampedCondition | undefined {
    const watched = this.#options.cluster.snapshot().namespace(name);
    const written = this.#written.get(name);
    if (watched === undefined) return undefined;
    const { uid, resourceVersion } = watched.metadata;
    if (
      written?.uid === uid &&
      isNewerResourceVersion(written?.resourceVersion ?? '', String(resourceVersion))
    )
      return written?.condition;
    this.#written.delete(name);
    return conditionOf(watched['status'], readyCondition);
  }
}

/** Names our condition alone: the API server keeps conditions of other types, because it merges the list by type. */
function applied({ metadata }: KubeObject, condition: StampedCondition): KubeObject {
  const { name = '', uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, ...(uid === undefined ? {} : { uid }) },
    status: { conditions: [condition] },
  };
}
