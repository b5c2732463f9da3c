// Measures what Reeve needs for a cluster of a given size: memory, processor time, requests and what etcd stores.
import { setTimeout as sleep } from 'node:timers/promises';
import { findApiServer } from '../../src/kube/auth/find-api-server.ts';
import type { KubeClient } from '../../src/kube/http/client.ts';
import { createKubeClient } from '../../src/kube/http/https-client.ts';
import { send } from '../cluster/admin-client.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { Guard } from '../cluster/guard.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { webhookIsAsked } from '../support/reeve.ts';
import { until } from '../support/until.ts';
import { openContext } from './context.ts';
import { inParallel } from '../support/in-parallel.ts';
import { RoleProcess, sumOf, type Use } from './role-process.ts';
import {
  flowSchemaOf,
  namespaceOf,
  objectCount,
  otherOf,
  policyOf,
  shareOf,
  sourceOf,
  type Size,
} from './sizing-objects.ts';
import { median } from './statistics.ts';

const accounts = ['reeve-webhook', 'reeve-reconciler'] as const;
const crd = '/apis/reeve.dev/v1alpha1';
const restSeconds = 60;
const laterNamespaces = 20;

/** Prints one line for each role and phase. */
export async function measureSize(size: Size): Promise<void> {
  await using opened = await openContext(false);
  const program = await opened.context.program();
  await using cluster = await startControlPlane({ audit: false });
  const guard = new Guard();
  const sizing = new Sizing(cluster, guard, program, size);
  try {
    await sizing.run();
  } finally {
    await sizing.stop();
    await guard.end();
  }
}

class Sizing {
  readonly #cluster: ControlPlane;
  readonly #guard: Guard;
  readonly #program: string;
  readonly #size: Size;
  readonly #processes: RoleProcess[] = [];
  #client: KubeClient | undefined;

  constructor(cluster: ControlPlane, guard: Guard, program: string, size: Size) {
    this.#cluster = cluster;
    this.#guard = guard;
    this.#program = program;
    this.#size = size;
  }

  async run(): Promise<void> {
    const { namespaces, policies, shares, secretBytes } = this.#size;
    await installReeve(this.#cluster);
    this.#client = createKubeClient(
      await findApiServer({ kubeconfig: this.#cluster.kubeconfig, environment: {} }),
    );
    for (const account of accounts)
      await this.#create('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', flowSchemaOf(account));
    await this.#startAll();
    await webhookIsAsked(this.#cluster);
    say(
      `${namespaces} namespaces, ${policies} policies, ${shares} shares of ${secretBytes} bytes: ${objectCount(this.#size)} objects`,
    );
    const numbers = Array.from({ length: namespaces }, (_, index) => index);
    await this.#phase('create the namespaces', () =>
      inParallel(numbers, (index) => this.#create('/api/v1/namespaces', namespaceOf(index))),
    );
    await this.#phase(`${this.#size.others} other objects in each namespace`, () =>
      this.#fillWithOthers(numbers),
    );
    await this.#phase('provide everything', () => this.#provide());
    await this.#phase(`${laterNamespaces} more namespaces`, () => this.#later());
    await this.#restart();
    // The events of what was written before have all been sent, or were lost with the old processes.
    await this.#phase(`rest for ${restSeconds} s`, () => sleep(restSeconds * 1000));
  }

  async stop(): Promise<void> {
    this.#client?.close();
    await Promise.all(this.#processes.splice(0).map((each) => each.stop()));
  }

  async #startAll(): Promise<void> {
    const start = async (name: string, role: 'webhook' | 'reconciler'): Promise<void> => {
      const [cluster, guard, program] = [this.#cluster, this.#guard, this.#program];
      const started = await RoleProcess.start({ name, role, cluster, guard, program });
      this.#processes.push(started);
      await started.ready();
    };
    await start('webhook', 'webhook');
    await start('leader', 'reconciler');
    await until(
      async () => (await this.#leader().sum('reeve_leader')) === 1,
      () => 'a reconciler leads',
    );
    await start('standby', 'reconciler');
  }

  async #fillWithOthers(namespaces: readonly number[]): Promise<void> {
    await inParallel(namespaces, async (namespace) => {
      const path = `/api/v1/namespaces/${namespaceOf(namespace).metadata.name}/configmaps`;
      for (let index = 0; index < this.#size.others; index++)
        await this.#create(path, otherOf(namespace, index));
    });
  }

  async #provide(): Promise<void> {
    const { policies, shares, secretBytes } = this.#size;
    for (let index = 0; index < shares; index++) {
      await this.#create('/api/v1/namespaces/reeve-shared/secrets', sourceOf(index, secretBytes));
      await this.#create(`${crd}/secretshares`, shareOf(index));
    }
    for (let index = 0; index < policies; index++)
      await this.#create(`${crd}/namespacepolicies`, policyOf(index));
    await this.#allProvided(this.#size.namespaces);
  }

  /** How long a namespace takes to be ready on a cluster of this size, one after the other. */
  async #later(): Promise<void> {
    const times: number[] = [];
    for (let index = 0; index < laterNamespaces; index++) {
      const namespace = namespaceOf(this.#size.namespaces + index);
      const began = performance.now();
      await this.#create('/api/v1/namespaces', namespace);
      const path = `/api/v1/namespaces/${namespace.metadata.name}`;
      await until(
        async () => JSON.stringify((await this.#request('GET', path))['status']).includes('reeve.dev/Ready'),
        () => `${path} is ready`,
      );
      times.push(performance.now() - began);
    }
    say(`  a namespace is ready after ${median(times).toFixed(0)} ms (median)`);
  }

  async #restart(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((each) => each.stop()));
    const before = await this.#load();
    const began = performance.now();
    await this.#startAll();
    await this.#allProvided(this.#size.namespaces + laterNamespaces);
    const seconds = (performance.now() - began) / 1000;
    await this.#report('restart of all', seconds, before, new Map());
  }

  async #allProvided(namespaces: number): Promise<void> {
    const wanted = objectCount({ ...this.#size, namespaces });
    let found = '';
    const deadline = performance.now() + 900_000;
    for (;;) {
      const [synced, ready] = await Promise.all([
        this.#leader().sum('reeve_provider_synced'),
        this.#leader().sum('reeve_namespaces', 'ready="true"'),
      ]);
      found = `${synced} of ${wanted} objects, ${ready} of ${namespaces} namespaces`;
      if (synced === wanted && ready >= namespaces) return;
      if (performance.now() > deadline) throw new Error(found);
      await sleep(100);
    }
  }

  async #phase(name: string, work: () => Promise<unknown>): Promise<void> {
    const uses = await this.#uses();
    for (const each of this.#processes) each.forgetPeak();
    const before = await this.#load();
    const began = performance.now();
    await work();
    await this.#report(name, (performance.now() - began) / 1000, before, uses);
  }

  async #report(name: string, seconds: number, before: Load, uses: ReadonlyMap<string, Use>): Promise<void> {
    const after = await this.#load();
    say(
      `\n${name}: ${seconds.toFixed(1)} s; etcd ${after.etcdMiB.toFixed(1)} MiB (+${(after.etcdMiB - before.etcdMiB).toFixed(1)})`,
    );
    for (const account of accounts) {
      const count = (of: Load): number => of.requests.get(account) ?? 0;
      const waited = (of: Load): number => of.waited.get(account) ?? 0;
      say(
        `  ${account}: ${count(after) - count(before)} requests, which waited ${(waited(after) - waited(before)).toFixed(1)} s for the API server in all`,
      );
    }
    for (const [process, use] of await this.#uses()) {
      const cpu = use.cpuSeconds - (uses.get(process)?.cpuSeconds ?? 0);
      say(
        `  ${process.padEnd(8)} CPU ${cpu.toFixed(1)} s, RSS ${use.rss.toFixed(0)}, peak ${use.peak.toFixed(0)}, heap ${use.heap.toFixed(0)} MiB`,
      );
    }
    say(`  reviews so far: ${await this.#processes[0]?.sum('reeve_admission_requests_total')}`);
  }

  async #uses(): Promise<ReadonlyMap<string, Use>> {
    return new Map(
      await Promise.all(this.#processes.map(async (each) => [each.name, await each.use()] as const)),
    );
  }

  async #load(): Promise<Load> {
    const metrics = String((await this.#cluster.admin.send('GET', '/metrics')).body);
    const etcd = String((await send(`${this.#cluster.etcd}/metrics`, {})).body);
    const of = (metric: string): ReadonlyMap<string, number> =>
      new Map(accounts.map((account) => [account, sumOf(metrics, metric, `flow_schema="${account}"`)]));
    return {
      requests: of('apiserver_flowcontrol_dispatched_requests_total'),
      waited: of('apiserver_flowcontrol_request_wait_duration_seconds_sum'),
      etcdMiB: sumOf(etcd, 'etcd_mvcc_db_total_size_in_use_in_bytes') / 1024 ** 2,
    };
  }

  #leader(): RoleProcess {
    const leader = this.#processes[1];
    if (leader === undefined) throw new Error('no reconciler runs');
    return leader;
  }

  async #create(path: string, body: object): Promise<void> {
    await this.#request('POST', path, body);
  }

  async #request(method: 'GET' | 'POST', path: string, body?: object): Promise<Record<string, unknown>> {
    if (this.#client === undefined) throw new Error('not started');
    return { ...(await this.#client.request({ method, path, ...(body === undefined ? {} : { body }) })) };
  }
}

interface Load {
  readonly requests: ReadonlyMap<string, number>;
  readonly waited: ReadonlyMap<string, number>;
  readonly etcdMiB: number;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
