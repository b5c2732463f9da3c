// A control plane of the bench, with or without Reeve, and the namespaces and writes on it.
import type { KubeObject } from '../../../src/base/kube-object.ts';
import type { ClusterBinary } from '../../cluster/binary.ts';
import { startControlPlane, type ControlPlane } from '../../cluster/control-plane.ts';
import { Guard } from '../../cluster/guard.ts';
import { installReeve, reeveNamespace } from '../../cluster/reeve-install.ts';
import { ApiCalls } from '../../soak/api-calls.ts';
import { webhookIsAsked } from '../../support/reeve.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { SizedProcess } from '../sized-process.ts';
import { inParallel } from './in-parallel.ts';
import {
  contentName,
  contentsPolicy,
  contentsShare,
  createNamespace,
  namespaceOf,
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

  private constructor(cluster: ControlPlane, calls: ApiCalls, seen: SeenContents) {
    this.cluster = cluster;
    this.calls = calls;
    this.seen = seen;
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

  /** Creates namespaces and waits for their contents, until the plane has so many. Needs Reeve with `provideContents`. */
  async fill(count: number): Promise<void> {
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

  /** Provides a RoleBinding and a Secret in each of these namespaces. */
  async provideContents(): Promise<void> {
    await this.create(
      `/api/v1/namespaces/${sourceNamespace}/secrets`,
      secretOf(sourceNamespace, contentName),
    );
    await this.create(`${providers}/namespacepolicies`, contentsPolicy);
    await this.create(`${providers}/secretshares`, contentsShare);
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
}

/** Reeve on a plane: one process of each role, as in the image. */
export class BenchReeve {
  readonly plane: BenchPlane;
  readonly #program: string;
  readonly #guard = new Guard();
  readonly #processes: SizedProcess[] = [];

  private constructor(plane: BenchPlane, program: string) {
    this.plane = plane;
    this.#program = program;
  }

  /** Installs Reeve and starts its webhook. */
  static async start(plane: BenchPlane, program: string): Promise<BenchReeve> {
    await installReeve(plane.cluster);
    const reeve = new BenchReeve(plane, program);
    try {
      await reeve.#startRole('webhook');
      await webhookIsAsked(plane.cluster);
    } catch (error) {
      await reeve[Symbol.asyncDispose]();
      throw error;
    }
    return reeve;
  }

  /** Starts the reconciler, and waits until it leads. */
  async startReconciler(): Promise<void> {
    const reconciler = await this.#startRole('reconciler');
    while ((await reconciler.sum('reeve_leader')) !== 1) await sleep(50);
  }

  processorMs(): number {
    return this.#processes.reduce((sum, each) => sum + each.processorMs(), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.stop()));
    await this.#guard.end();
  }

  async #startRole(role: 'webhook' | 'reconciler'): Promise<SizedProcess> {
    const started = await SizedProcess.start(role, role, this.plane.cluster, this.#guard, this.#program);
    this.#processes.push(started);
    await started.ready();
    return started;
  }
}

/** Creates what the baselines need that `installReeve` creates elsewhere: the namespaces, and the Service of a webhook. */
export async function prepareBare(plane: BenchPlane): Promise<void> {
  for (const name of [sourceNamespace, reeveNamespace])
    await plane.calls.mustSend(createNamespace(namespaceOf(name, {})));
  await plane.create(`/api/v1/namespaces/${reeveNamespace}/services`, {
    metadata: { name: 'reeve-webhook' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
}
