// A control plane of the bench, and the namespaces and writes on it.
import type { KubeObject } from '../../../src/base/metadata.ts';
import type { ClusterBinary } from '../../cluster/binary.ts';
import { startControlPlane, type ControlPlane } from '../../cluster/control-plane.ts';
import { ApiCalls } from '../../soak/api-calls.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../support/in-parallel.ts';
import {
  contentName,
  contentsPolicy,
  contentsShare,
  createNamespace,
  namespaceWithContents,
  secretOf,
  sourceNamespace,
} from './plane-objects.ts';
import { seenOn, type SeenContents } from './seen-objects.ts';

const providers = '/apis/reeve.dev/v1alpha1';

/** The requests that each process sends without a change: it renews its Lease, and asks for rights. */
const notWrites = /^(leases|\w*reviews)$/;

/** Conditions and statuses wait for less. */
const quietMs = 1000;

export interface Burst {
  /** Milliseconds from the first create to the last content, and from the last create to the last content. */
  readonly totalMs: number;
  readonly lagMs: number;
}

export class BenchPlane {
  readonly cluster: ControlPlane;
  readonly calls: ApiCalls;
  readonly seen: SeenContents;
  #namespaces = 0;
  #provided: Promise<void> | undefined;

  private constructor(cluster: ControlPlane, calls: ApiCalls, seen: SeenContents) {
    this.cluster = cluster;
    this.calls = calls;
    this.seen = seen;
  }

  /** How many namespaces have contents, or will have them. */
  get namespaces(): number {
    return this.#namespaces;
  }

  static async start(binary: ClusterBinary): Promise<BenchPlane> {
    const cluster = await startControlPlane({ binary, audit: false });
    // For minutes, they would write two objects for each namespace, at 20 requests a second.
    cluster.pause('controllers');
    return new BenchPlane(cluster, await ApiCalls.of(cluster), await seenOn(cluster));
  }

  async create(path: string, body: object): Promise<void> {
    await this.calls.mustSend({ method: 'POST', path, body });
  }

  /** Creates namespaces and waits for their contents, until the plane has so many. Needs a reconciler. */
  async fill(count: number): Promise<void> {
    this.#provided ??= this.#provideContents();
    await this.#provided;
    if (count > this.#namespaces) await this.burst(count - this.#namespaces);
  }

  /** Creates so many namespaces in a burst, and waits until each has its RoleBinding and Secret. */
  async burst(count: number): Promise<Burst> {
    const first = this.#namespaces;
    this.#namespaces += count;
    const names = Array.from({ length: count }, (_, index) => namespaceWithContents(first + index));
    const seen = Promise.all([
      this.seen.roleBindings.expect(contentName, count),
      this.seen.secrets.expect(contentName, count),
    ]);
    const began = performance.now();
    await inParallel(names, (namespace) => this.calls.mustSend(createNamespace(namespace)));
    const created = performance.now();
    await seen;
    const ended = performance.now();
    return { totalMs: ended - began, lagMs: ended - created };
  }

  /** Returns a namespace that will have contents, but does not create it. */
  nextNamespace(): KubeObject {
    this.#namespaces += 1;
    return namespaceWithContents(this.#namespaces - 1);
  }

  /** Returns how many requests of this plane changed something so far, by resource. Leases do not count. */
  async writes(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const line of String((await this.cluster.admin.send('GET', '/metrics')).body).split('\n')) {
      if (!line.startsWith('apiserver_request_total{') || !line.includes('dry_run=""')) continue;
      if (!/verb="(POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION)"/.test(line)) continue;
      const resource = /[{,]resource="([^"]*)"/.exec(line)?.[1] ?? '';
      if (notWrites.test(resource)) continue;
      const count = Number(line.slice(line.lastIndexOf(' ')));
      counts.set(resource, (counts.get(resource) ?? 0) + count);
    }
    return counts;
  }

  async writeCount(): Promise<number> {
    return [...(await this.writes()).values()].reduce((sum, count) => sum + count, 0);
  }

  /** Waits until no request has changed anything for a moment: statuses and events follow the contents. */
  async settled(): Promise<void> {
    for (let last = -1; ;) {
      const count = await this.writeCount();
      if (count === last) return;
      last = count;
      await sleep(quietMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.seen[Symbol.dispose]();
    this.calls.close();
    this.cluster.resume('controllers');
    await this.cluster.stop();
  }

  /** Provides a RoleBinding and a Secret in each namespace of `fill`. */
  async #provideContents(): Promise<void> {
    await this.create(
      `/api/v1/namespaces/${sourceNamespace}/secrets`,
      secretOf(sourceNamespace, contentName),
    );
    await this.create(`${providers}/namespacepolicies`, contentsPolicy);
    await this.create(`${providers}/secretshares`, contentsShare);
  }
}
