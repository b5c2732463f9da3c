// A queue of keys to work on: each at most once at a time, failed ones again later, and none held up by another.
// The contract is that of client-go's: https://pkg.go.dev/k8s.io/client-go/util/workqueue
import { setImmediate } from 'node:timers/promises';
import { Alarm } from './alarm.ts';
import { DueTimes } from './due-times.ts';
import type { Clock } from '../../base/clock.ts';
import { ReadyKeys } from './ready-keys.ts';
import { RetryDelays, type RetryBounds } from './retry-delays.ts';

/** What became of a key. `retry`: look again, later after each failure, and not before `leastMs`. */
export type Handled = { readonly kind: 'done' } | { readonly kind: 'retry'; readonly leastMs?: number };

export const done: Handled = { kind: 'done' };

export interface Attempt {
  /** How often the key has failed in a row. */
  readonly failures: number;
  readonly signal: AbortSignal;
}

export interface QueueOptions<K> {
  readonly concurrency: number;
  readonly time: Clock;
  readonly retry?: RetryBounds;
  handle(key: K, attempt: Attempt): Promise<Handled>;
  /** What `handle` threw; the key is tried again. */
  faulted(key: K, error: unknown): void;
}

/** After so long without a pause others get their turn: timers, sockets, probes. */
const sliceMs = 10;

export class WorkQueue<K> {
  readonly #options: QueueOptions<K>;
  readonly #retries: RetryDelays<K>;
  readonly #due = new DueTimes<K>();
  readonly #alarm: Alarm;
  readonly #ready = new ReadyKeys<K>();
  readonly #queued = new Set<K>();
  readonly #running = new Set<K>();
  /** Those of them that had failed before. */
  readonly #retrying = new Set<K>();
  /** Added while they were worked on: what they are worked on with may be out of date. */
  readonly #again = new Set<K>();
  /** Since when a key needs work. */
  readonly #since = new Map<K, number>();
  #signal: AbortSignal | undefined;
  #waiters: (() => void)[] = [];
  #sliceBegan = 0;
  #isYielding = false;

  constructor(options: QueueOptions<K>) {
    this.#options = options;
    this.#retries = new RetryDelays(() => options.time.random(), options.retry);
    this.#alarm = new Alarm(options.time, () => this.#takeDue());
  }

  /** Ready to be worked on. */
  get queued(): number {
    return this.#queued.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Nothing is ready or running; something may still be due later. */
  get isIdle(): boolean {
    return this.#queued.size === 0 && this.#running.size === 0;
  }

  /** When the next key that waits for its time is due, on the monotonic clock. */
  get nextDue(): number | undefined {
    return this.#due.next();
  }

  /** For how long the key that has waited longest has needed work; one that keeps failing counts from its first time. */
  oldestMs(): number {
    // A Map holds its keys in the order in which they came.
    const [first] = this.#since.values();
    return first === undefined ? 0 : this.#options.time.monotonic() - first;
  }

  add(key: K): void {
    if (!this.#since.has(key)) this.#since.set(key, this.#options.time.monotonic());
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#queued.has(key)) return;
    this.#queued.add(key);
    this.#ready.add(key, this.#retries.failures(key) > 0);
    this.#pump();
  }

  /** The earliest of several times counts; work on the key that begins before makes it void. */
  addAfter(key: K, milliseconds: number): void {
    if (milliseconds <= 0) {
      this.add(key);
      return;
    }
    this.#due.set(key, this.#options.time.monotonic() + milliseconds);
    this.#arm();
  }

  addRateLimited(key: K, leastMs = 0): void {
    this.addAfter(key, Math.max(this.#retries.next(key), leastMs));
  }

  /** Its next failure counts as its first. */
  forget(key: K): void {
    this.#retries.forget(key);
  }

  /** Works until the signal aborts, and resolves when the last work has ended. What is left is forgotten. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#settle(), { once: true });
    this.#arm();
    this.#pump();
    await this.#stopped();
    this.#signal = undefined;
    this.#clear();
  }

  async #stopped(): Promise<void> {
    while (this.#signal?.aborted === false || this.#running.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiters.push(resolve);
      await promise;
    }
  }

  #settle(): void {
    if (this.#signal?.aborted !== true || this.#running.size > 0) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  #clear(): void {
    this.#alarm.set(undefined);
    this.#due.clear();
    this.#ready.clear();
    for (const keys of [this.#queued, this.#again, this.#since]) keys.clear();
    this.#retries.clear();
  }

  #pump(): void {
    while (this.#isWorking() && !this.#isYielding && this.#running.size < this.#options.concurrency) {
      const key = this.#shift();
      if (key === undefined) return;
      if (this.#options.time.monotonic() - this.#sliceBegan > sliceMs) void this.#yield();
      void this.#work(key);
    }
  }

  #isWorking(): boolean {
    return this.#signal?.aborted === false;
  }

  async #yield(): Promise<void> {
    this.#isYielding = true;
    await setImmediate();
    this.#isYielding = false;
    this.#sliceBegan = this.#options.time.monotonic();
    this.#pump();
  }

  /** Undefined when nothing is ready, or nothing that may have a place. A key is never undefined. */
  #shift(): K | undefined {
    // Those that fail, slowly perhaps, leave half of the places to those that do not.
    const mayHaveFailed = this.#retrying.size < Math.ceil(this.#options.concurrency / 2);
    const taken = this.#ready.take(mayHaveFailed);
    if (taken === undefined) return undefined;
    const { key, hasFailed } = taken;
    if (hasFailed) this.#retrying.add(key);
    this.#queued.delete(key);
    this.#running.add(key);
    this.#due.delete(key);
    return key;
  }

  async #work(key: K): Promise<void> {
    const handled = await this.#handle(key);
    this.#running.delete(key);
    this.#retrying.delete(key);
    if (handled.kind === 'done') {
      this.#retries.forget(key);
      this.#since.delete(key);
    } else if (this.#isWorking()) this.addRateLimited(key, handled.leastMs);
    if (this.#again.delete(key)) this.add(key);
    this.#pump();
    this.#settle();
  }

  async #handle(key: K): Promise<Handled> {
    const signal = this.#signal;
    if (signal === undefined) return done;
    try {
      return await this.#options.handle(key, { failures: this.#retries.failures(key), signal });
    } catch (error) {
      // What comes of breaking off is no fault.
      if (!signal.aborted) this.#options.faulted(key, error);
      return { kind: 'retry' };
    }
  }

  #arm(): void {
    if (this.#isWorking()) this.#alarm.set(this.#due.next());
  }

  #takeDue(): void {
    const now = this.#options.time.monotonic();
    for (let key = this.#due.take(now); key !== undefined; key = this.#due.take(now)) this.add(key);
    this.#arm();
  }
}
