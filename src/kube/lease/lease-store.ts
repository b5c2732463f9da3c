// Reads and writes one Lease. A write succeeds only if the Lease has not changed since it was read.
import { fieldManager } from '../../schema/names.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeClient } from '../http/client.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { microTime } from '../../base/time.ts';
import { malformedAnswer } from '../http/answers.ts';
import { resourceVersionOf } from '../watch/watch-stream.ts';

interface LeaseCallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const query = { fieldManager };

/** All methods reject with a KubeError. */
export class LeaseStore {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #name: string;

  constructor(client: KubeClient, namespace: string, name: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.#name = name;
  }

  /** Returns undefined when the Lease does not exist. */
  async read(options: LeaseCallOptions): Promise<LeaseRecord | undefined> {
    try {
      return readLease(await this.#client.request({ method: 'GET', path: this.#path, ...options }));
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
    const contentType = 'application/apply-patch+yaml';
    const body = emptyLease(this.#namespace, this.#name);
    return readLease(
      await this.#client.request({ method: 'PATCH', path: this.#path, query, contentType, body, ...options }),
    );
  }

  async release(record: LeaseRecord, now: Date, options: LeaseCallOptions): Promise<void> {
    await this.#replace(releasedLease(record, now), options);
  }

  /** The resourceVersion in the body makes the API server answer 409 when the Lease has changed. */
  async #replace(body: unknown, options: LeaseCallOptions): Promise<LeaseRecord> {
    return readLease(
      await this.#client.request({ method: 'PUT', path: this.#path, query, body, ...options }),
    );
  }

  get #path(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#namespace}/leases/${this.#name}`;
  }
}

// Reads a Lease as a record of its holder, and builds the Lease for claiming or releasing the lead.
// https://kubernetes.io/docs/concepts/architecture/leases/#leader-election

export interface LeaseRecord {
  /** Empty when no process leads. */
  readonly holder: string;
  /** How long others must wait for the next renewal. Undefined if the Lease does not say. */
  readonly durationMs: number | undefined;
  /** Changes with every write, and each write counts as a renewal. */
  readonly resourceVersion: string;
  /** The whole object: replacing it keeps the fields of others, and succeeds only if it has not changed. */
  readonly lease: JsonObject;
}

export interface LeaseClaim {
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

function emptyLease(namespace: string, name: string): JsonObject {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } };
}

/** Keeps `acquireTime` when the claimant already holds the Lease. */
export function claimedLease({ lease, holder }: LeaseRecord, claim: LeaseClaim): JsonObject {
  const spec = { ...specOf(lease), ...claimedSpec(claim) };
  if (holder === claim.identity) return { ...lease, spec };
  const taken = { acquireTime: microTime(claim.now), leaseTransitions: nextTransitionOf(lease) };
  return { ...lease, spec: { ...spec, ...taken } };
}

/** Releases the Lease in the form of client-go, which every elector acquires at once. */
function releasedLease({ lease }: LeaseRecord, now: Date): JsonObject {
  const spec = { ...specOf(lease), holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
  return { ...lease, spec };
}

function claimedSpec({ identity, durationMs, now }: LeaseClaim): JsonObject {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    renewTime: microTime(now),
  };
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
