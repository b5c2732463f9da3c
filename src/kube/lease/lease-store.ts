// Reads and writes one Lease. A write succeeds only if the Lease has not changed since it was read.
import { fieldManager } from '../../schema/names.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeClient } from '../http/client.ts';
import { claimedLease, emptyLease, readLease, releasedLease } from './lease-record.ts';
import type { LeaseClaim, LeaseRecord } from './lease-record.ts';

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

  /** Uses apply, which RBAC can limit to one name, unlike POST. It changes nothing of a Lease that exists already. */
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
