// A queue of keys with delays and retries: a key never runs twice at once, and a failing key delays no other.
// The contract is the one of client-go's workqueue: https://pkg.go.dev/k8s.io/client-go/util/workqueue
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { tenantOf, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { AuditedResource } from '../../policy/decide/audit.ts';
import { DelayedKeys, ReadyKeys, type GroupOf, type Urgency } from './key-order.ts';

/** The result of one attempt. `retry`: try again, with a delay that grows with each failure and is at least `minDelayMs`. */
export type Handled = { readonly kind: 'done' } | { readonly kind: 'retry'; readonly minDelayMs?: number };

export const done: Handled = { kind: 'done' };

export interface Attempt {
  /** The number of failures of the key in a row. */
  readonly failures: number;
  readonly signal: AbortSignal;
}

export type Handler<K> = (key: K, attempt: Attempt) => Promise<Handled>;

interface QueueOptions<K> {
  readonly concurrency: number;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep' | 'random'>;
  /** The keys of one group wait for each other, and each group has its turn. Default: each key is a group. */
  readonly groupOf?: GroupOf<K>;
  readonly retryDelay?: { readonly minMs: number; readonly maxMs: number };
  /** Called with the error of the handler. The key is retried. */
  readonly onError: (key: K, error: unknown) => void;
}

/** The limit is 30 s, so that an API server is used again soon after it was unreachable for a minute. */
const defaultRetryDelay = { minMs: 100, maxMs: 30_000 };
/** After this time without a pause, timers, sockets and probes get their turn. */
const sliceMs = 10;
/** Timers of Node beyond 2^31 ms fire at once: https://nodejs.org/api/timers.html#settimeoutcallback-delay-args */
const maxSleepMs = 3_600_000;

export class WorkQueue<K> {
  readonly #options: QueueOptions<K>;
  readonly #delayed = new DelayedKeys<K>();
  readonly #ready: ReadyKeys<K>;
  readonly #queued = new Set<K>();
  readonly #running = new Set<K>();
  /** Running keys that had failed before. */
  readonly #retrying = new Set<K>();
  /** Keys that were added while they ran. They run again, because the handler may have read outdated state. */
  readonly #dirty = new Set<K>();
  readonly #failures = new Map<K, number>();
  /** The time since which each key needs work, the longest wait first. */
  readonly #waitingSince = new Map<K, number>();
  #run: { readonly handle: Handler<K>; readonly signal: AbortSignal; readonly end: () => void } | undefined;
  #sleep: { readonly until: number; readonly abort: AbortController } | undefined;
  #calm: PromiseWithResolvers<void> | undefined;
  #sliceBegan = 0;
  #isYielding = false;

  constructor(options: QueueOptions<K>) {
    this.#options = options;
    this.#ready = new ReadyKeys(options.groupOf);
  }

  /** Keys that are ready to run. */
  get queued(): number {
    return this.#queued.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** True while keys wait for a place. Keys that failed before can wait although places are free. */
  get isBusy(): boolean {
    return this.queued > 0 && (this.#isYielding || this.running >= this.#options.concurrency);
  }

  /** Resolves as soon as the queue is not busy. */
  async calm(): Promise<void> {
    if (!this.isBusy) return;
    this.#calm ??= Promise.withResolvers();
    await this.#calm.promise;
  }

  /** True while no key is ready or running. Delayed keys may exist. */
  get isIdle(): boolean {
    return this.#queued.size === 0 && this.#running.size === 0;
  }

  /** Due time of the next delayed key, on the monotonic clock. */
  get nextDue(): number | undefined {
    return this.#delayed.next();
  }

  /** Returns how long the oldest key has needed work. A failing key counts from its first attempt. */
  oldestMs(): number {
    const [first] = this.#waitingSince.values();
    return first === undefined ? 0 : this.#options.clock.monotonic() - first;
  }

  /** A key that is added alone precedes those that were added as a bulk, even if it is also one of them. */
  add(key: K, urgency: Urgency = 'now'): void {
    if (!this.#waitingSince.has(key)) this.#waitingSince.set(key, this.#options.clock.monotonic());
    if (this.#running.has(key)) {
      this.#dirty.add(key);
      return;
    }
    if (this.#queued.has(key)) {
      if (urgency === 'now') this.#ready.promote(key);
      return;
    }
    this.#queued.add(key);
    this.#ready.add(key, this.#failuresOf(key) > 0, urgency);
    this.#startReady();
  }

  /** The earliest of several delays counts. A start of the key drops the delay. */
  addAfter(key: K, milliseconds: number): void {
    if (milliseconds <= 0) {
      this.add(key);
      return;
    }
    this.#delayed.set(key, this.#options.clock.monotonic() + milliseconds);
    this.#setTimer();
  }

  /** Runs the handler until the signal aborts. Resolves when the last handler has ended, and drops all keys. */
  async run(handle: Handler<K>, signal: AbortSignal): Promise<void> {
    const ended = Promise.withResolvers<void>();
    this.#run = { handle, signal, end: ended.resolve };
    signal.addEventListener('abort', () => this.#endIfStopped(), { once: true });
    this.#setTimer();
    this.#startReady();
    this.#endIfStopped();
    await ended.promise;
    this.#run = undefined;
    this.#clear();
  }

  #endIfStopped(): void {
    if (this.#run?.signal.aborted === true && this.#running.size === 0) this.#run.end();
  }

  #clear(): void {
    this.#sleep?.abort.abort();
    this.#sleep = undefined;
    for (const keys of [this.#delayed, this.#ready, this.#queued, this.#dirty]) keys.clear();
    for (const counts of [this.#waitingSince, this.#failures]) counts.clear();
  }

  #isStarted(): boolean {
    return this.#run?.signal.aborted === false;
  }

  #startReady(): void {
    this.#fillPlaces();
    if (this.isBusy) return;
    this.#calm?.resolve();
    this.#calm = undefined;
  }

  #fillPlaces(): void {
    const { concurrency, clock } = this.#options;
    while (this.#isStarted() && !this.#isYielding && this.#running.size < concurrency) {
      const key = this.#takeReady();
      if (key === undefined) return;
      if (clock.monotonic() - this.#sliceBegan > sliceMs) void this.#yield();
      void this.#work(key);
    }
  }

  async #yield(): Promise<void> {
    this.#isYielding = true;
    await setImmediate();
    this.#isYielding = false;
    this.#sliceBegan = this.#options.clock.monotonic();
    this.#startReady();
  }

  #takeReady(): K | undefined {
    // Failing keys can be slow, so at least half of the places stay free for the other keys.
    const mayHaveFailed = this.#retrying.size < Math.ceil(this.#options.concurrency / 2);
    const taken = this.#ready.take(mayHaveFailed);
    if (taken === undefined) return undefined;
    const { key, hasFailed } = taken;
    if (hasFailed) this.#retrying.add(key);
    this.#queued.delete(key);
    this.#running.add(key);
    this.#delayed.delete(key);
    return key;
  }

  async #work(key: K): Promise<void> {
    const handled = await this.#handle(key);
    this.#running.delete(key);
    this.#retrying.delete(key);
    if (handled.kind === 'done') {
      this.#failures.delete(key);
      this.#waitingSince.delete(key);
    } else if (this.#isStarted()) this.#retryLater(key, handled.minDelayMs);
    if (this.#dirty.delete(key)) this.add(key);
    this.#startReady();
    this.#endIfStopped();
  }

  async #handle(key: K): Promise<Handled> {
    if (this.#run === undefined) return done;
    const { handle, signal } = this.#run;
    try {
      return await handle(key, { failures: this.#failuresOf(key), signal });
    } catch (error) {
      // An aborted handler may throw anything.
      if (!signal.aborted) this.#options.onError(key, error);
      return { kind: 'retry' };
    }
  }

  /** Doubles the delay after each failure, and adds up to as much by chance, so that keys do not retry together. */
  #retryLater(key: K, minDelayMs = 0): void {
    const { clock, retryDelay = defaultRetryDelay } = this.#options;
    const failures = this.#failuresOf(key);
    this.#failures.set(key, failures + 1);
    const delay = Math.min(retryDelay.maxMs, retryDelay.minMs * 2 ** failures) * (1 + clock.random());
    this.addAfter(key, Math.max(delay, minDelayMs));
  }

  #failuresOf(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Sets one timer, for the delayed key that is due first. */
  #setTimer(): void {
    const until = this.#isStarted() ? this.#delayed.next() : undefined;
    if (until === undefined || this.#sleep?.until === until) return;
    this.#sleep?.abort.abort();
    const sleep = { until, abort: new AbortController() };
    this.#sleep = sleep;
    const { clock } = this.#options;
    const milliseconds = Math.min(Math.max(0, until - clock.monotonic()), maxSleepMs);
    // The sleep rejects only when another timer has replaced it.
    void clock.sleep(milliseconds, sleep.abort.signal).then(
      () => this.#addDue(sleep),
      () => undefined,
    );
  }

  #addDue(sleep: object): void {
    if (this.#sleep !== sleep) return;
    this.#sleep = undefined;
    const now = this.#options.clock.monotonic();
    for (let key = this.#delayed.take(now); key !== undefined; key = this.#delayed.take(now)) this.add(key);
    this.#setTimer();
  }
}

// The queues of the reconciler. They get their handlers when it runs.

/** Example: `roles` for all namespaces, `roles/team-a` for one namespace. */
export type Sweep = AuditedResource | `${AuditedResource}/${string}`;

export type Queues = ReturnType<typeof createQueues>;

const defaultConcurrency = 16;
const providerConcurrency = 8;
const conditionConcurrency = 8;
const reportConcurrency = 2;
const accessConcurrency = 2;
const claimConcurrency = 2;

/** `<namespace>/<name>`. */
function namespaceOfKey(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** `concurrency`: how many namespaces are reconciled at once. */
export function createQueues(
  clock: QueueOptions<string>['clock'],
  failed: (what: string, error: unknown) => void,
  concurrency = defaultConcurrency,
) {
  const queueOf = <K extends string>(at: number, what: string, groupOf?: GroupOf<K>): WorkQueue<K> =>
    new WorkQueue<K>({
      concurrency: at,
      clock,
      onError: (key, error) => failed(`${what}${key}`, error),
      ...(groupOf === undefined ? {} : { groupOf }),
    });
  return {
    namespaceQueue: queueOf<string>(concurrency, 'namespace '),
    // A tenant can write thousands of bindings. The statuses of all other providers must not wait for them.
    providerQueue: queueOf<ProviderId>(providerConcurrency, '', tenantOf),
    conditionQueue: queueOf<string>(conditionConcurrency, 'condition of namespace '),
    auditQueue: queueOf<Sweep>(1, 'audit of '),
    reportQueue: queueOf<string>(reportConcurrency, 'report of namespace '),
    accessQueue: queueOf<string>(accessConcurrency, 'temporary access '),
    // A tenant can write thousands of claims, too.
    claimQueue: queueOf<string>(claimConcurrency, 'claim ', namespaceOfKey),
  };
}
