// Elects a leader through a Lease, as client-go does, but measures time with the monotonic clock. Reads and writes that Lease.
// https://kubernetes.io/docs/concepts/architecture/leases/#leader-election
import { isAborted, pause } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeError } from '../../base/kube-error.ts';
import { kubeErrorOf, malformedAnswer } from '../http/answers.ts';
import type { KubeClient, KubeRequest } from '../http/client.ts';
import { fieldManager } from '../../schema/names.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { microTime } from '../../base/time.ts';
import { resourceVersionOf } from '../watch/watch-stream.ts';

interface LeaseOptions {
  /** The date is only written into the Lease for people; decisions use the monotonic time. */
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Unique to this process: a process that reads its own identity in the Lease considers itself the holder. */
  readonly identity: string;
  /** How long others wait for a renewal by the leader; 15 s by default. */
  readonly durationMs?: number;
  /** The longest time between renewals of the leader, and between reads of others; 2 s by default. */
  readonly retryMs?: number;
  onError?(error: { readonly code: number; readonly reason: string }): void;
}

interface LeadListener {
  /** The signal aborts as soon as this process no longer leads. Every write of a leader must carry it. */
  onLead(signal: AbortSignal): void;
  /** Not called after `stop`. This process tries to lead again at once. */
  onLost(): void;
}

interface Candidacy {
  /** Compares with the clock: a process that was paused reads false here before its timers abort the signal. */
  readonly isLeader: boolean;
  /** Aborts the signal, then releases the Lease. The caller must first end the work of the leader. */
  stop(): Promise<void>;
  /** Resolves after `stop`; rejects when a listener throws, which is an error of the program. */
  readonly stopped: Promise<void>;
}

export function electLeader(client: KubeClient, options: LeaseOptions, listener: LeadListener): Candidacy {
  return new Elector(client, options, listener);
}

/** How long a leader that cannot renew still leads. The rest of the duration is a safety margin. */
const renewDeadlineMs = 10_000;
const releaseTimeoutMs = 1000;
const maxReleaseTries = 3;

/** Caps the duration of another holder, as a multiple of ours. Another version of Reeve may use a longer duration. */
const maxDurations = 4;

class Elector implements Candidacy {
  readonly #store: LeaseStore;
  readonly #options: LeaseOptions;
  readonly #listener: LeadListener;
  readonly #durationMs: number;
  readonly #retryMs: number;
  readonly #stop = new AbortController();
  /** The last version seen, and when it was first seen. When the holder wrote it is unknown. */
  #observed = { version: '', at: 0 };
  #leadsUntil = -Infinity;
  #mayHold = false;
  readonly stopped: Promise<void>;

  constructor(client: KubeClient, options: LeaseOptions, listener: LeadListener) {
    this.#store = new LeaseStore(client, options.namespace, options.name);
    this.#options = options;
    this.#listener = listener;
    this.#durationMs = options.durationMs ?? 15_000;
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

  /** Returns the Lease held by this process; undefined when stopped before. */
  async #acquire(): Promise<LeaseRecord | undefined> {
    while (!isAborted(this.#stop.signal)) {
      const { record, waitMs } = await this.#tryToAcquire();
      if (this.isLeader) return record;
      await pause(this.#options.clock, waitMs, this.#stop.signal);
    }
    return undefined;
  }

  async #tryToAcquire(): Promise<{ record?: LeaseRecord; waitMs: number }> {
    const options = { timeoutMs: renewDeadlineMs / 2, signal: this.#stop.signal };
    try {
      const record = await this.#store.read(options);
      const heldMs = record === undefined ? 0 : this.#heldByOthersMs(record);
      if (heldMs > 0) return { waitMs: Math.min(heldMs, this.#retryWait()) };
      return { record: await this.#claim(record, options.signal), waitMs: this.#retryWait() };
    } catch (error) {
      const waitMs = Math.min(this.#report(error).retryAfterMs ?? 0, this.#durationMs);
      return { waitMs: Math.max(waitMs, this.#retryWait()) };
    }
  }

  /** Returns how long this process must still respect the lead of another. */
  #heldByOthersMs({ holder, resourceVersion, durationMs }: LeaseRecord): number {
    if (this.#observed.version !== resourceVersion)
      this.#observed = { version: resourceVersion, at: this.#now() };
    if (holder === '' || holder === this.#options.identity) return 0;
    // A wrong duration in the record must not block all other processes for ever.
    const heldMs = Math.min(durationMs ?? this.#durationMs, maxDurations * this.#durationMs);
    return this.#observed.at + heldMs - this.#now();
  }

  /** The lead counts from before the request; others count from when they see the write, which is later. */
  async #claim(record: LeaseRecord | undefined, signal: AbortSignal): Promise<LeaseRecord> {
    const sentAt = this.#now();
    const { identity, clock } = this.#options;
    const claim: LeaseClaim = { identity, durationMs: this.#durationMs, now: clock.now() };
    this.#mayHold = true;
    const left = this.isLeader ? this.#leadsUntil - sentAt : Infinity;
    const timeoutMs = Math.min(renewDeadlineMs / 2, left);
    const claimed = await this.#store.claim(record, claim, { timeoutMs, signal });
    if (!isAborted(signal)) this.#leadsUntil = sentAt + renewDeadlineMs;
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

  /** Runs beside the renewals, because a request may take longer than the lead lasts. */
  async #endWhenOver(lead: AbortController, signal: AbortSignal): Promise<void> {
    while (this.isLeader && !isAborted(signal))
      await pause(this.#options.clock, this.#leadsUntil - this.#now(), signal);
    lead.abort();
  }

  /** Returns the same record when the result is unknown; undefined when this process no longer holds the Lease. */
  async #renewed(held: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    try {
      return await this.#claim(held, signal);
    } catch (error) {
      const { code } = this.#report(error);
      return code === 409 || code === 404 ? await this.#reread(held, signal) : held;
    }
  }

  /** A lost answer also leads to a conflict; then the Lease still names this process. */
  async #reread(held: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    try {
      const found = await this.#store.read({ timeoutMs: renewDeadlineMs / 2, signal });
      if (found?.holder === this.#options.identity) return found;
      this.#mayHold = false;
      return undefined;
    } catch (error) {
      this.#report(error);
      return held;
    }
  }

  /** Returns a time from retryMs / 1.2 to retryMs, so that processes do not act in step. */
  #retryWait(): number {
    return this.#retryMs / (1 + 0.2 * this.#options.clock.random());
  }

  /** Reads first, because an aborted request may have been executed. */
  async #release(): Promise<void> {
    const options = { timeoutMs: releaseTimeoutMs };
    for (let tries = 0; tries < maxReleaseTries; tries += 1) {
      try {
        const record = await this.#store.read(options);
        if (record?.holder !== this.#options.identity) return;
        return await this.#store.release(record, this.#options.clock.now(), options);
      } catch (error) {
        if (this.#report(error).code !== 409) return;
      }
    }
  }

  #report(error: unknown): KubeError {
    const kubeError = kubeErrorOf(error);
    const { code, reason } = kubeError;
    if (!isAborted(this.#stop.signal)) this.#options.onError?.({ code, reason });
    return kubeError;
  }
}

// Reads and writes one Lease. A write succeeds only if the Lease has not changed since it was read.

interface LeaseCallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** All methods reject with a KubeError. */
class LeaseStore {
  readonly #client: KubeClient;
  readonly #metadata: { readonly namespace: string; readonly name: string };

  constructor(client: KubeClient, namespace: string, name: string) {
    this.#client = client;
    this.#metadata = { namespace, name };
  }

  /** Returns undefined when the Lease does not exist. */
  async read(options: LeaseCallOptions): Promise<LeaseRecord | undefined> {
    try {
      return await this.#send({ method: 'GET' }, options);
    } catch (error) {
      if (error instanceof KubeError && error.code === 404) return undefined;
      throw error;
    }
  }

  /** Creates the Lease when it does not exist. */
  async claim(
    record: LeaseRecord | undefined,
    claim: LeaseClaim,
    options: LeaseCallOptions,
  ): Promise<LeaseRecord> {
    const claimable = record ?? (await this.#create(options));
    // Another process has created and claimed it in the meantime.
    if (record === undefined && claimable.holder !== '')
      throw new KubeError({ code: 409, reason: 'Conflict', retryable: true });
    return await this.#replace(claimedLease(claimable, claim), options);
  }

  /** Uses apply, because RBAC can limit an apply to one name, unlike a POST. An existing Lease stays as it is. */
  async #create(options: LeaseCallOptions): Promise<LeaseRecord> {
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: this.#metadata };
    return await this.#send({ method: 'PATCH', contentType: 'application/apply-patch+yaml', body }, options);
  }

  /** Releases the Lease in the form of client-go, which every elector acquires at once. */
  async release({ lease }: LeaseRecord, now: Date, options: LeaseCallOptions): Promise<void> {
    const free = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
    await this.#replace({ ...lease, spec: { ...specOf(lease), ...free } }, options);
  }

  /** The resourceVersion in the body makes the API server answer 409 when the Lease has changed. */
  async #replace(body: unknown, options: LeaseCallOptions): Promise<LeaseRecord> {
    return await this.#send({ method: 'PUT', body }, options);
  }

  async #send(request: Omit<KubeRequest, 'path'>, options: LeaseCallOptions): Promise<LeaseRecord> {
    const query = request.method === 'GET' ? {} : { query: { fieldManager } };
    return readLease(await this.#client.request({ ...request, ...query, path: this.#path, ...options }));
  }

  get #path(): string {
    const { namespace, name } = this.#metadata;
    return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
  }
}

// Reads a Lease as a record of its holder, and builds the Lease for claiming or releasing the lead.

interface LeaseRecord {
  /** Empty when no process leads. */
  readonly holder: string;
  /** How long others must wait for the next renewal. Undefined if the Lease does not say. */
  readonly durationMs: number | undefined;
  /** Changes with every write, and each write counts as a renewal. */
  readonly resourceVersion: string;
  /** The whole object: replacing it keeps the fields of others, and succeeds only if it has not changed. */
  readonly lease: JsonObject;
}

interface LeaseClaim {
  readonly identity: string;
  readonly durationMs: number;
  readonly now: Date;
}

/** Throws a KubeError when the object is not a Lease. */
export function readLease(lease: JsonObject): LeaseRecord {
  const resourceVersion = resourceVersionOf(lease);
  if (resourceVersion === undefined) throw malformedAnswer();
  const { holderIdentity, leaseDurationSeconds } = specOf(lease);
  return {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationMs: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1000 : undefined,
    resourceVersion,
    lease,
  };
}

/** Keeps `acquireTime` when the claimant already holds the Lease. */
export function claimedLease({ lease, holder }: LeaseRecord, claim: LeaseClaim): JsonObject {
  const { identity, durationMs, now } = claim;
  const spec = {
    ...specOf(lease),
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    renewTime: microTime(now),
  };
  if (holder === identity) return { ...lease, spec };
  const taken = { acquireTime: microTime(now), leaseTransitions: nextTransitionOf(lease) };
  return { ...lease, spec: { ...spec, ...taken } };
}

function specOf(lease: JsonObject): JsonObject {
  const spec = ownMember(lease, 'spec');
  return isJsonObject(spec) ? spec : {};
}

const highestTransitions = 2 ** 31 - 1;

/**
 * The API server refuses a higher number than an int32 holds. A person or a stolen token can write the highest one, which
 * must not end all elections: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/#LeaseSpec
 */
function nextTransitionOf(lease: JsonObject): number {
  const transitions = specOf(lease)['leaseTransitions'];
  return typeof transitions === 'number' && transitions < highestTransitions ? transitions + 1 : 0;
}
