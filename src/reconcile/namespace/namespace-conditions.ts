// Writes the condition reeve.dev/Ready of every Namespace. Objects are written first.
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { readyCondition } from '../../api/names.ts';
import { conditionOf, isSameCondition, stamped, type Condition } from '../../policy/status/condition.ts';
import type { StampedCondition } from '../../policy/status/condition.ts';
import type { Clock } from '../../base/clock.ts';
import { isNewerResourceVersion } from '../../base/resource-version.ts';
import type { LiveCluster, NamespaceChange } from '../../state/live-cluster.ts';
import { changesOnlyReadiness, wasRestored } from '../changes.ts';
import type { ObjectWriter, ReconcileObserver } from '../ports.ts';
import { done, type Attempt, type Handled, type WorkQueue } from '../queue/queue.ts';
import { classifyWriteError } from './write-error.ts';

export interface NamespaceConditionsOptions {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'subscribe'>;
  readonly writer: Pick<ObjectWriter, 'apply'>;
  readonly observer: Pick<ReconcileObserver, 'wroteOwn' | 'unexpectedError'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly namespaceQueue: Pick<WorkQueue<string>, 'isBusy'>;
  readonly conditionQueue: Pick<WorkQueue<string>, 'add' | 'addAfter'>;
}

interface Wanted {
  readonly condition: Condition;
  readonly since: number;
}

interface Written {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly condition: StampedCondition | undefined;
}

/**
 * Conditions wait for the objects of other namespaces, but not longer than this. Otherwise a quarter of the writes of a burst
 * would be conditions, and delay the objects.
 */
const maxDeferMs = 5000;
const lookMs = 50;
const retryRefusedMs = 2000;

export class NamespaceConditions {
  readonly #options: NamespaceConditionsOptions;
  /** Conditions that still have to be written. */
  readonly #wanted = new Map<string, Wanted>();
  /** The last condition of each namespace, written or not. */
  readonly #last = new Map<string, Condition>();
  /** Our own writes, until the watch has reported them. */
  readonly #written = new Map<string, Written>();
  /** Namespaces whose condition waits for objects. */
  readonly #deferred = new Set<string>();
  /** The one of them that looks whether they still have to wait. */
  #looking: string | undefined;

  constructor(options: NamespaceConditionsOptions) {
    this.#options = options;
    options.cluster.subscribe((change) => {
      if (change.kind === 'namespace') this.#namespaceChanged(change);
    });
  }

  want(name: string, condition: Condition): void {
    this.#last.set(name, condition);
    if (isSameCondition(condition, this.#currentOf(name))) {
      this.#wanted.delete(name);
      return;
    }
    this.#wanted.set(name, { condition, since: this.#options.clock.monotonic() });
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
    this.#looking = undefined;
    for (const known of [this.#deferred, this.#last, this.#wanted]) known.clear();
  }

  /** Handles one key of the condition queue. */
  async write(name: string, { signal }: Attempt): Promise<Handled> {
    const { clock, writer, observer, conditionQueue, cluster } = this.#options;
    const wanted = this.#wanted.get(name);
    const namespaceObject = cluster.snapshot().namespace(name);
    if (wanted === undefined || namespaceObject === undefined) {
      this.#resume(name);
      return done;
    }
    if (this.#mustDefer(name, wanted)) return done;
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

  #mustDefer(name: string, { since }: Wanted): boolean {
    const { clock, namespaceQueue, conditionQueue } = this.#options;
    const left = since + maxDeferMs - clock.monotonic();
    if (left <= 0 || !namespaceQueue.isBusy(name)) {
      this.#resume(name);
      return false;
    }
    this.#deferred.add(name);
    this.#looking ??= name;
    conditionQueue.addAfter(name, this.#looking === name ? Math.min(lookMs, left) : left);
    return true;
  }

  /** The condition that looks whether the burst is over resumes the others. */
  #resume(name: string): void {
    this.#deferred.delete(name);
    if (this.#looking !== name) return;
    this.#looking = undefined;
    for (const other of this.#deferred) this.#options.conditionQueue.add(other);
    this.#deferred.clear();
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
