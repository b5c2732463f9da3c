// Runs Reeve like its Deployments: two webhooks behind one Service, and two reconcilers with one leader.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { Balancer } from '../../support/balancer.ts';
import { spawnReeve, webhookIsAsked, type Reeve, type ReeveOptions } from '../../support/reeve.ts';
import { until } from '../../support/until.ts';

/** Gives an ending replica time for requests that still arrive: on a busy machine, a second is too short for the probes. */
const drainGrace = '--drain-grace=5s';

/** Four processes start at once, and a busy machine takes long to load their code. */
const startSeconds = 150;

export class Fleet {
  readonly #cluster: ClusterAccess;
  readonly #balancer: Balancer;
  readonly #servicePort: number;
  readonly #webhookArgs: readonly string[];
  #webhooks: readonly Reeve[] = [];
  #reconcilers: readonly Reeve[] = [];

  private constructor(
    cluster: ClusterAccess,
    balancer: Balancer,
    servicePort: number,
    webhookArgs: readonly string[],
  ) {
    this.#cluster = cluster;
    this.#balancer = balancer;
    this.#servicePort = servicePort;
    this.#webhookArgs = [drainGrace, ...webhookArgs];
  }

  /** Resolves once all replicas are ready, the API server calls the webhooks, and a reconciler leads. */
  static async start(cluster: ClusterAccess, webhookArgs: readonly string[] = []): Promise<Fleet> {
    const balancer = new Balancer([]);
    const fleet = new Fleet(cluster, balancer, await balancer.listen(), webhookArgs);
    try {
      await Promise.all([
        fleet.addWebhook(),
        fleet.addWebhook(),
        fleet.addReconciler(),
        fleet.addReconciler(),
      ]);
      await webhookIsAsked(cluster);
      await fleet.leader();
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  /** The webhooks behind the Service. */
  get webhooks(): readonly Reeve[] {
    return this.#webhooks;
  }

  /** The number of connections to the webhooks so far. */
  get connections(): number {
    return this.#balancer.accepted;
  }

  /** Resolves once the Service sends requests to the new webhook. */
  async addWebhook(): Promise<Reeve> {
    const options = { role: 'webhook', servicePort: this.#servicePort, args: this.#webhookArgs } as const;
    const added = await spawnReeve(this.#cluster, options);
    this.#webhooks = [...this.#webhooks, added];
    this.#balancer.setReplicas(this.#webhooks);
    await until(
      () => Promise.resolve(added.hasEnded || this.#balancer.ready.includes(added)),
      () => `ready: ${added.output}`,
      startSeconds,
    );
    return added;
  }

  /** Waits until the Service sends the webhook no more requests. The webhook may have ended by then. */
  async noMoreFor(webhook: Reeve): Promise<void> {
    await until(
      () => Promise.resolve(!this.#balancer.ready.includes(webhook)),
      () => `no more requests: ${webhook.output}`,
    );
    this.#webhooks = this.#webhooks.filter((each) => each !== webhook);
  }

  /** The replicas that have not been removed. */
  get reconcilers(): readonly Reeve[] {
    return this.#reconcilers;
  }

  /** Returns the reconcilers that report that they lead. */
  async leaders(): Promise<readonly Reeve[]> {
    const leading = await Promise.all(
      this.#reconcilers.map(async (each) => (await each.metric('reeve_leader')) === 1),
    );
    return this.#reconcilers.filter((_, index) => leading[index]);
  }

  /** Waits until one reconciler leads. No reconciler may be paused, because each must answer. */
  async leader(): Promise<Reeve> {
    let found: readonly Reeve[] = [];
    await until(
      async () => {
        found = await this.leaders();
        return found.length > 0;
      },
      () => 'a leader',
    );
    const [leader, ...others] = found;
    if (leader === undefined || others.length > 0) throw new Error(`${found.length} leaders`);
    return leader;
  }

  /** Removes the reconciler from the fleet. The caller decides whether and how it ends. */
  takeAway(reconciler: Reeve): void {
    this.#reconcilers = this.#reconcilers.filter((each) => each !== reconciler);
  }

  /** Resolves once the new reconciler is ready. */
  async addReconciler(options: Pick<ReeveOptions, 'kubeconfig'> = {}): Promise<Reeve> {
    const added = await spawnReeve(this.#cluster, { role: 'reconciler', ...options });
    this.putBack(added);
    await readiness(added);
    return added;
  }

  putBack(reconciler: Reeve): void {
    this.#reconcilers = [...this.#reconcilers, reconciler];
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#reconcilers, ...this.#webhooks].map((each) => each.stop()));
    await this.#balancer.close();
  }
}

async function readiness(reeve: Reeve): Promise<void> {
  await until(
    async () => reeve.hasEnded || (await reeve.isReady()),
    () => `ready: ${reeve.output}`,
    startSeconds,
  );
  if (reeve.hasEnded) throw new Error(`it ended: ${reeve.output}`);
}
