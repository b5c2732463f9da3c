// Reads and writes one Lease; a write succeeds only if nobody wrote in between.
import { KubeError } from '../../base/kube-error.ts';
import { fieldManager } from '../../api/names.ts';
import type { KubeClient } from '../http/client.ts';
import { claimedLease, emptyLease, readLease, releasedLease } from './lease-record.ts';
import type { Claim, LeaseRecord } from './lease-record.ts';

export interface RequestLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const query = { fieldManager };

/** Its methods reject with a KubeError. */
export class LeaseStore {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #name: string;

  constructor(client: KubeClient, namespace: string, name: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.#name = name;
  }

  /** Undefined when there is none. */
  async read(limits: RequestLimits): Promise<LeaseRecord | undefined> {
    try {
      return readLease(await this.#client.request({ method: 'GET', path: this.#path, ...limits }));
    } catch (error) {
      if (error instanceof KubeError && error.code === 404) return undefined;
      throw error;
    }
  }

  /** Makes the Lease when there is none to claim. */
  async claim(record: LeaseRecord | undefined, claim: Claim, limits: RequestLimits): Promise<LeaseRecord> {
    const claimable = record ?? (await this.#make(limits));
    // Somebody else has made and claimed it meanwhile.
    if (record === undefined && claimable.holder !== '')
      throw new KubeError({ code: 409, reason: 'Conflict', retryable: true });
    return await this.#replace(claimedLease(claimable, claim), limits);
  }

  /** By apply, which RBAC can limit to one name where a POST cannot. It leaves alone what another has made. */
  async #make(limits: RequestLimits): Promise<LeaseRecord> {
    const contentType = 'application/apply-patch+yaml';
    const body = emptyLease(this.#namespace, this.#name);
    return readLease(
      await this.#client.request({ method: 'PATCH', path: this.#path, query, contentType, body, ...limits }),
    );
  }

  async release(record: LeaseRecord, now: Date, limits: RequestLimits): Promise<void> {
    await this.#replace(releasedLease(record, now), limits);
  }

  /** The resourceVersion in the body makes the API server refuse what is based on an older state, with 409. */
  async #replace(body: unknown, limits: RequestLimits): Promise<LeaseRecord> {
    return readLease(await this.#client.request({ method: 'PUT', path: this.#path, query, body, ...limits }));
  }

  get #path(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#namespace}/leases/${this.#name}`;
  }
}
