// Leader election on a Lease, as client-go does it, but on a clock that nobody sets.
// https://kubernetes.io/docs/concepts/architecture/leases/#leader-election
import { isAborted } from '../../base/is-aborted.ts';
import type { KubeError } from '../../base/kube-error.ts';
import { kubeErrorOf } from '../http/answer-fault.ts';
import type { KubeClient } from '../http/client.ts';
import { LeaseStore } from './lease-store.ts';
import type { Claim, LeaseRecord } from './lease-record.ts';
import { pause } from '../../base/pause.ts';
import type { Clock } from '../../base/clock.ts';

export interface LeaseOptions {
  /** Its date is for people to read in the Lease. Nothing is decided by it. */
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Of this process alone: whoever finds it in the Lease takes the Lease for its own. */
  readonly identity: string;
  /** How long others wait for a sign of life of the leader; 15 s unless given. */
  readonly durationMs?: number;
  /** How long a leader that cannot renew still leads; 10 s unless given. What is missing to the duration is the margin. */
  readonly renewDeadlineMs?: number;
  /** How often a leader renews and others look, at least; 2 s unless given. */
  readonly retryMs?: number;
  onTrouble?(error: { readonly code: number; readonly reason: string }): void;
}

export interface LeadListener {
  /** The signal aborts as soon as this process does not lead any more: every write of a leader carries it. */
  onLead(signal: AbortSignal): void;
  /** Not called by `stop`. This process stands for election again at once. */
  onLost(): void;
}

export interface Candidacy {
  /** Asks the clock. A process that was paused reads false here before any timer of its can abort the signal. */
  readonly isLeader: boolean;
  /** Aborts the signal, then leaves the Lease free. What a leader still does must have ended before. */
  stop(): Promise<void>;
  /** Resolves after `stop`; rejects when a listener has thrown, which is a fault of the program. */
  readonly stopped: Promise<void>;
}

export function electLeader(client: KubeClient, options: LeaseOptions, listener: LeadListener): Candidacy {
  return new Elector(client, options, listener);
}

const releaseTimeoutMs = 1000;
const mostReleaseTries = 3;

/** Of ours, that the record of another may hold: an earlier or a later version may take longer ones. */
const mostDurations = 4;

class Elector implements Candidacy {
  readonly #store: LeaseStore;
  readonly #options: LeaseOptions;
  readonly #listener: LeadListener;
  readonly #durationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryMs: number;
  readonly #stop = new AbortController();
  /** The last version that was seen, and when first: how long ago its holder wrote it cannot be known. */
  #observed = { version: '', at: 0 };
  #leadsUntil = -Infinity;
  #mayHold = false;
  readonly stopped: Promise<void>;

  constructor(client: KubeClient, options: LeaseOptions, listener: LeadListener) {
    this.#store = new LeaseStore(client, options.namespace, options.name);
    this.#options = options;
    this.#listener = listener;
    this.#durationMs = options.durationMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryMs = options.retryMs ?? 2000;
    this.stopped = this.#run();
  }

  get isLeader(): boolean {
    return this.#now() < this.#leadsUntil;
  }

  stop(): Promise<void> {
    this.#leadsUntil = -Infinity;
    this.#stop.abort();
    return this.stopped;
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  async #run(): Promise<void> {
    while (!isAborted(this.#stop.signal)) {
      const record = await this.#acquire();
      if (record !== undefined) await this.#lead(record);
    }
    if (this.#mayHold) await this.#release();
  }

  /** The Lease with this process as its holder; undefined when stopped before. */
  async #acquire(): Promise<LeaseRecord | undefined> {
    while (!isAborted(this.#stop.signal)) {
      const { record, waitMs } = await this.#tryToAcquire();
      if (this.isLeader) return record;
      await pause(this.#options.clock, waitMs, this.#stop.signal);
    }
    return undefined;
  }

  async #tryToAcquire(): Promise<{ record?: LeaseRecord; waitMs: number }> {
    const limits = { timeoutMs: this.#renewDeadlineMs / 2, signal: this.#stop.signal };
    try {
      const record = await this.#store.read(limits);
      const heldMs = record === undefined ? 0 : this.#heldByOthersMs(record);
      if (heldMs > 0) return { waitMs: Math.min(heldMs, this.#retryWait()) };
      return { record: await this.#claim(record, limits.signal), waitMs: this.#retryWait() };
    } catch (error) {
      const waitMs = Math.min(this.#report(error).retryAfterMs ?? 0, this.#durationMs);
      return { waitMs: Math.max(waitMs, this.#retryWait()) };
    }
  }

  /** How long the lead of another must still be respected. */
  #heldByOthersMs({ holder, resourceVersion, durationMs }: LeaseRecord): number {
    if (this.#observed.version !== resourceVersion)
      this.#observed = { version: resourceVersion, at: this.#now() };
    if (holder === '' || holder === this.#options.identity) return 0;
    // Whoever may write the record must not be able to keep everybody away for good.
    const heldMs = Math.min(durationMs ?? this.#durationMs, mostDurations * this.#durationMs);
    return this.#observed.at + heldMs - this.#now();
  }

  /** Counted from before the request: others count from when they see its effect, which is later. */
  async #claim(record: LeaseRecord | undefined, signal: AbortSignal): Promise<LeaseRecord> {
    const sentAt = this.#now();
    const { identity, clock } = this.#options;
    const claim: Claim = { identity, durationMs: this.#durationMs, now: clock.now() };
    this.#mayHold = true;
    const left = this.isLeader ? this.#leadsUntil - sentAt : Infinity;
    const timeoutMs = Math.min(this.#renewDeadlineMs / 2, left);
    const claimed = await this.#store.claim(record, claim, { timeoutMs, signal });
    if (!isAborted(signal)) this.#leadsUntil = sentAt + this.#renewDeadlineMs;
    return claimed;
  }

  async #lead(record: LeaseRecord): Promise<void> {
    const lead = new AbortController();
    const signal = AbortSignal.any([lead.signal, this.#stop.signal]);
    const guarding = this.#endWhenOver(lead, signal);
    try {
      this.#listener.onLead(signal);
      for (let held: LeaseRecord | undefined = record; held !== undefined && !isAborted(signal);) {
        await pause(this.#options.clock, this.#retryWait(), signal);
        if (!isAborted(signal)) held = await this.#renewed(held, signal);
      }
    } finally {
      this.#leadsUntil = -Infinity;
      lead.abort();
      await guarding;
    }
    if (!isAborted(this.#stop.signal)) this.#listener.onLost();
  }

  /** Also while a request is on its way, which may take longer than the lead lasts. */
  async #endWhenOver(lead: AbortController, signal: AbortSignal): Promise<void> {
    while (this.isLeader && !isAborted(signal))
      await pause(this.#options.clock, this.#leadsUntil - this.#now(), signal);
    lead.abort();
  }

  /** The same record when nothing is known of how it went; undefined when another holds the Lease, or nobody. */
  async #renewed(held: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    try {
      return await this.#claim(held, signal);
    } catch (error) {
      const { code } = this.#report(error);
      return code === 409 || code === 404 ? await this.#reread(held, signal) : held;
    }
  }

  /** An answer that got lost is a conflict as well: then the Lease names this process all the same. */
  async #reread(held: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    try {
      const found = await this.#store.read({ timeoutMs: this.#renewDeadlineMs / 2, signal });
      if (found?.holder === this.#options.identity) return found;
      this.#mayHold = false;
      return undefined;
    } catch (error) {
      this.#report(error);
      return held;
    }
  }

  /** Between retryMs / 1.2 and retryMs, so that several processes do not stay in step and none looks later. */
  #retryWait(): number {
    return this.#retryMs / (1 + 0.2 * this.#options.clock.random());
  }

  /** Looks first: a request that was aborted may have had its effect. */
  async #release(): Promise<void> {
    const limits = { timeoutMs: releaseTimeoutMs };
    for (let tries = 0; tries < mostReleaseTries; tries += 1) {
      try {
        const record = await this.#store.read(limits);
        if (record?.holder !== this.#options.identity) return;
        return await this.#store.release(record, this.#options.clock.now(), limits);
      } catch (error) {
        if (this.#report(error).code !== 409) return;
      }
    }
  }

  #report(error: unknown): KubeError {
    const failure = kubeErrorOf(error);
    const { code, reason } = failure;
    if (!isAborted(this.#stop.signal)) this.#options.onTrouble?.({ code, reason });
    return failure;
  }
}
