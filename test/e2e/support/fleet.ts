// Reeve as its Deployments run it: two webhooks behind one Service, and two reconcilers with one leader.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { Balancer } from '../../support/balancer.ts';
import { spawnReeve, webhookIsAsked, type Reeve, type ReeveOptions } from '../../support/reeve.ts';
import { until } from '../../support/until.ts';

/** Gives a replica that ends the time in which requests still arrive. */
const drainGrace = '--drain-grace=1s';

/** Four processes begin at once, and a busy machine takes long to load what each of them needs. */
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

  /** Settled once all are ready, the API server asks the webhooks, and a reconciler leads. */
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

  /** How many connections to them there have ever been. */
  get connections(): number {
    return this.#balancer.accepted;
  }

  /** Settled once it is sent requests. */
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

  /** Waits until the Service sends it no more requests; by then it may have ended. */
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

  /** How many of them say that they lead. */
  async leaders(): Promise<readonly Reeve[]> {
    const leading = await Promise.all(
      this.#reconcilers.map(async (each) => (await each.metric('reeve_leader')) === 1),
    );
    return this.#reconcilers.filter((_, index) => leading[index]);
  }

  /** Waits until one of them leads. None of them may stand still. */
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

  /** It no longer counts; whether and how it ends is for the caller. */
  takeAway(reconciler: Reeve): void {
    this.#reconcilers = this.#reconcilers.filter((each) => each !== reconciler);
  }

  /** Settled once it is ready. */
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
