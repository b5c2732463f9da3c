// Keeps the condition reeve.dev/Ready of every Namespace; after the objects, because those are what people wait for.
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { readyCondition } from '../../api/names.ts';
import { conditionOf, isSameCondition, stamped, type Condition } from '../../policy/status/condition.ts';
import type { StampedCondition } from '../../policy/status/condition.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObjectWriter, ReconcileObserver } from '../ports.ts';
import { done, WorkQueue, type Attempt, type Handled } from '../queue/queue.ts';
import { isNewer } from '../live/resource-version.ts';
import { writeFault } from './write-fault.ts';

export interface NamespaceConditionsOptions {
  readonly namespaceOf: (name: string) => KubeObject | undefined;
  readonly writer: Pick<ObjectWriter, 'apply'>;
  readonly observer: Pick<ReconcileObserver, 'wroteOwn' | 'faulted'>;
  readonly time: Clock;
  /** Whether objects wait to be written. */
  readonly isBusy: () => boolean;
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

const concurrency = 8;
/** Objects come first, but not for longer than this. */
const longestWaitMs = 2000;

export class NamespaceConditions {
  readonly #options: NamespaceConditionsOptions;
  readonly queue: WorkQueue<string>;
  /** What is still to be written. */
  readonly #wanted = new Map<string, Wanted>();
  /** What each namespace is to have, written or not. */
  readonly #last = new Map<string, Condition>();
  /** Our own writes, of which the watch may not have told yet. */
  readonly #written = new Map<string, Written>();
  /** Those that let objects go first. */
  readonly #yielding = new Set<string>();
  #isOpen = false;

  constructor(options: NamespaceConditionsOptions) {
    this.#options = options;
    this.queue = new WorkQueue<string>({
      concurrency,
      time: options.time,
      handle: (name, attempt) => this.#write(name, attempt),
      faulted: (name, error) => options.observer.faulted(`condition of namespace ${name}`, error),
    });
  }

  want(name: string, condition: Condition): void {
    this.#last.set(name, condition);
    if (isSameCondition(condition, this.#currentOf(name))) {
      this.#wanted.delete(name);
      return;
    }
    this.#wanted.set(name, { condition, since: this.#options.time.monotonic() });
    if (this.#isOpen) this.queue.add(name);
  }

  /** It has been changed, by us or by somebody else. */
  changed(name: string): void {
    const last = this.#last.get(name);
    if (last !== undefined) this.want(name, last);
  }

  forget(name: string): void {
    this.#last.delete(name);
    this.#wanted.delete(name);
    this.#written.delete(name);
  }

  /** No objects wait any more. */
  goOn(): void {
    for (const name of this.#yielding) this.queue.add(name);
    this.#yielding.clear();
  }

  /** The cluster has gone back to an earlier state of it: what we have written since is not there any more. */
  restored(name: string): void {
    this.#written.delete(name);
  }

  /** Nothing is written before this. */
  open(): void {
    this.#isOpen = true;
    for (const name of this.#wanted.keys()) this.queue.add(name);
  }

  close(): void {
    this.#isOpen = false;
    this.#yielding.clear();
    this.#last.clear();
    this.#wanted.clear();
  }

  async #write(name: string, { signal }: Attempt): Promise<Handled> {
    const { time, isBusy, namespaceOf, writer, observer } = this.#options;
    const wanted = this.#wanted.get(name);
    const namespaceObject = namespaceOf(name);
    if (wanted === undefined || namespaceObject === undefined) return done;
    if (isBusy() && time.monotonic() - wanted.since < longestWaitMs) {
      this.#yielding.add(name);
      this.queue.addAfter(name, wanted.since + longestWaitMs - time.monotonic());
      return done;
    }
    this.#yielding.delete(name);
    const condition = stamped(wanted.condition, this.#currentOf(name), time.now());
    try {
      const options = { force: true, subresource: 'status', signal } as const;
      const answer = await writer.apply(applied(namespaceObject, condition), options);
      this.#took(name, answer);
    } catch (error) {
      return this.#failed(error);
    }
    observer.wroteOwn('condition');
    // Unless another one has come to be wanted meanwhile.
    if (this.#wanted.get(name) === wanted) this.#wanted.delete(name);
    else this.queue.add(name);
    return done;
  }

  #took(name: string, answer: KubeObject): void {
    const { uid, resourceVersion } = answer.metadata;
    if (typeof resourceVersion !== 'string') return;
    this.#written.set(name, {
      uid,
      resourceVersion,
      condition: conditionOf(answer['status'], readyCondition),
    });
  }

  #failed(error: unknown): Handled {
    // It has been deleted and made again: the watch will tell.
    if (error instanceof KubeError && error.code === 422) return done;
    const fault = writeFault(error, 'change');
    if (fault.kind === 'transient') return { kind: 'retry', leastMs: fault.leastMs };
    if (fault.kind !== 'lasting') return done;
    this.#options.observer.faulted('the condition of a namespace', error);
    return { kind: 'retry', leastMs: fault.leastMs ?? longestWaitMs };
  }

  #currentOf(name: string): StampedCondition | undefined {
    const watched = this.#options.namespaceOf(name);
    const written = this.#written.get(name);
    if (watched === undefined) return undefined;
    const { uid, resourceVersion } = watched.metadata;
    if (written?.uid === uid && isNewer(written?.resourceVersion ?? '', String(resourceVersion)))
      return written?.condition;
    this.#written.delete(name);
    return conditionOf(watched['status'], readyCondition);
  }
}

/** Only our own condition is ours: the API server keeps those of others, by their type. */
function applied({ metadata }: KubeObject, condition: StampedCondition): KubeObject {
  const { name = '', uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, ...(uid === undefined ? {} : { uid }) },
    status: { conditions: [condition] },
  };
}
