// The setting of the soak: a control plane, an installed Reeve, and its four processes, each behind a proxy that can fail.
import { cp, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { Guard } from '../cluster/guard.ts';
import { freePorts } from '../cluster/ports.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { BoundToken } from '../e2e/support/bound-token.ts';
import { Balancer } from '../support/balancer.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { flagsOf, webhookIsAsked } from '../support/reeve.ts';
import { until } from '../support/until.ts';
import { ApiCalls, operator } from './api-calls.ts';
import { Replica } from './replica.ts';

const roles = ['webhook', 'reconciler'] as const;
type Role = (typeof roles)[number];

/** With these lifetimes, serving certificates are renewed every 40 s, and the authority every two minutes. */
const shortLives = ['--ca-lifetime=3m', '--cert-lifetime=1m', '--ca-settling=5s'];

export class Arena {
  readonly plane: ControlPlane;
  readonly calls: ApiCalls;
  readonly tokens: Readonly<Record<Role, BoundToken>>;
  /** The folder for the output of the processes. */
  readonly logs: string;
  readonly #guard: Guard;
  readonly #balancer: Balancer;
  /** The first replica of each role runs until the soak ends. */
  readonly webhooks: readonly [Replica, Replica];
  readonly reconcilers: readonly [Replica, Replica];

  private constructor(parts: Omit<Parts, 'balancerPort'>, fleet: Fleet) {
    this.plane = parts.plane;
    this.calls = parts.calls;
    this.tokens = parts.tokens;
    this.logs = parts.logs;
    this.#guard = parts.guard;
    this.#balancer = parts.balancer;
    this.webhooks = fleet.webhooks;
    this.reconcilers = fleet.reconcilers;
  }

  static async open(): Promise<Arena> {
    const logs = await mkdtemp(join(tmpdir(), 'reeve-soak-'));
    // Without a watch cache, the API server cannot serve from memory what etcd has compacted.
    const plane = await startControlPlane({
      apiServerFlags: ['--watch-cache-sizes=namespaces#0,secrets#0'],
      controllerFlags: ['--kube-api-qps=100', '--kube-api-burst=150'],
      audit: false,
    });
    const guard = new Guard();
    try {
      await installReeve(plane);
      return await Arena.#fill(plane, guard, logs);
    } catch (error) {
      await guard.end();
      await plane.stop();
      throw error;
    }
  }

  static async #fill(plane: ControlPlane, guard: Guard, logs: string): Promise<Arena> {
    const calls = await ApiCalls.of(plane);
    await bindOperator(calls);
    const balancer = new Balancer([]);
    const parts: Parts = {
      plane,
      calls,
      guard,
      logs,
      balancer,
      balancerPort: await balancer.listen(),
      tokens: {
        webhook: new BoundToken(plane, 'reeve-webhook'),
        reconciler: new BoundToken(plane, 'reeve-reconciler'),
      },
    };
    const arena = new Arena(parts, await fleetOf(parts));
    try {
      balancer.setReplicas(arena.webhooks);
      await Promise.all(arena.replicas.map((each) => each.start()));
      await webhookIsAsked(plane);
      await arena.leader();
    } catch (error) {
      await arena.close();
      throw error;
    }
    return arena;
  }

  get replicas(): readonly Replica[] {
    return [...this.webhooks, ...this.reconcilers];
  }

  /** Waits until a reconciler leads. */
  async leader(): Promise<Replica> {
    let found: Replica | undefined;
    await until(
      async () => {
        const leading = await Promise.all(this.reconcilers.map((each) => each.leads()));
        found = this.reconcilers.find((_, index) => leading[index]);
        return found !== undefined;
      },
      () => 'a leader',
    );
    if (found === undefined) throw new Error('there is no leader');
    return found;
  }

  /** Ends everything. The output of the processes stays. */
  async close(): Promise<void> {
    for (const replica of this.replicas) replica.proxy.close();
    await Promise.all(this.replicas.map((each) => each.stop('SIGKILL')));
    await this.#balancer.close();
    this.calls.close();
    await this.#guard.end();
    await this.#keepLogsOfPlane();
    await this.plane.stop();
  }

  async #keepLogsOfPlane(): Promise<void> {
    const { folder } = this.plane;
    for (const name of await readdir(folder))
      if (name.endsWith('.log')) await cp(join(folder, name), join(this.logs, name));
  }
}

interface Parts {
  readonly plane: ControlPlane;
  readonly calls: ApiCalls;
  readonly guard: Guard;
  readonly logs: string;
  readonly balancer: Balancer;
  readonly balancerPort: number;
  readonly tokens: Readonly<Record<Role, BoundToken>>;
}

interface Fleet {
  readonly webhooks: readonly [Replica, Replica];
  readonly reconcilers: readonly [Replica, Replica];
}

async function fleetOf(parts: Parts): Promise<Fleet> {
  const pair = async (role: Role): Promise<readonly [Replica, Replica]> => {
    const kubeconfig = await parts.tokens[role].kubeconfig();
    const [first, second] = [1, 2].map(async (number) => await replicaOf(parts, role, number, kubeconfig));
    if (first === undefined || second === undefined) throw new Error('there are two of each');
    return [await first, await second];
  };
  return { webhooks: await pair('webhook'), reconcilers: await pair('reconciler') };
}

async function replicaOf(parts: Parts, role: Role, number: number, direct: string): Promise<Replica> {
  const { plane, logs, guard, balancerPort } = parts;
  const proxy = await startFaultProxy(new URL(plane.server));
  const kubeconfig = await proxy.kubeconfigLike(direct);
  const [port = 0, probesPort = 0] = await freePorts(2);
  const args = [
    ...flagsOf({ role, kubeconfig, port, probesPort, servicePort: balancerPort }),
    ...(role === 'webhook' ? shortLives : []),
  ];
  return new Replica({ name: `${role}-${number}`, args, port, probesPort, proxy, folder: logs, guard });
}

/** Grants every right without membership in system:masters, which the webhooks exempt. */
async function bindOperator(calls: ApiCalls): Promise<void> {
  await calls.mustSend({
    method: 'POST',
    path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'soak-operators' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: operator.user }],
    },
  });
}
