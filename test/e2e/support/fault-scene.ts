// Reeve on a control plane, with everything that its reconciler says to the API server going through a proxy that can fail.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.ts';
import { startReeve, type Reeve } from '../../support/reeve.ts';
import { until } from '../../support/until.ts';
import { Stage } from './stage.ts';

export class FaultScene {
  readonly cluster: ClusterAccess;
  readonly stage: Stage;
  readonly proxy: FaultProxy;
  readonly webhook: Reeve;
  readonly reconciler: Reeve;

  private constructor(stage: Stage, proxy: FaultProxy, webhook: Reeve, reconciler: Reeve) {
    this.cluster = stage.cluster;
    this.stage = stage;
    this.proxy = proxy;
    this.webhook = webhook;
    this.reconciler = reconciler;
  }

  /** `kubeconfig`: how the reconciler signs in; by default with a token that stays good. */
  static async start(
    cluster: ClusterAccess,
    prefix: string,
    kubeconfig = cluster.tokenKubeconfig.bind(cluster, 'reeve-system', 'reeve-reconciler'),
  ): Promise<FaultScene> {
    await installReeve(cluster);
    const proxy = await startFaultProxy(new URL(cluster.server));
    try {
      const throughProxy = await proxy.kubeconfigLike(await kubeconfig());
      const [webhook, reconciler] = await Promise.all([
        startReeve(cluster, { role: 'webhook' }),
        startReeve(cluster, { role: 'reconciler', kubeconfig: throughProxy }),
      ]);
      return new FaultScene(new Stage(cluster, prefix), proxy, webhook, reconciler);
    } catch (error) {
      proxy.close();
      throw error;
    }
  }

  /** Whether the webhook is ready, and the reconciler, and whether that leads. */
  async health(): Promise<readonly unknown[]> {
    const { webhook, reconciler } = this;
    const leads = (await reconciler.metric('reeve_leader')) === 1;
    return [await webhook.isReady(), await reconciler.isReady(), leads];
  }

  /** Waits until the reconciler says of itself that it leads, or that it does not. */
  async leads(isLeader: boolean): Promise<void> {
    let last: number | undefined;
    await until(
      async () => {
        last = await this.reconciler.metric('reeve_leader');
        return last === (isLeader ? 1 : 0);
      },
      () => `reeve_leader is ${last}`,
    );
  }

  /** Waits until the leader has renewed its Lease so many times. */
  async renews(times: number): Promise<void> {
    let last = await this.#renewTime();
    let count = 0;
    await until(
      async () => {
        const now = await this.#renewTime();
        if (now !== last) count += 1;
        last = now;
        return count >= times;
      },
      () => `the Lease renewed ${times} times: ${count}`,
    );
  }

  async #renewTime(): Promise<string> {
    const lease = ['lease', 'reeve-reconciler', '-n', 'reeve-system'];
    return await this.stage.kubectl('get', ...lease, '-o=jsonpath={.spec.renewTime}');
  }

  async stop(): Promise<void> {
    await this.proxy.heal();
    await this.stage.cleanUp();
    await Promise.all([this.webhook.stop(), this.reconciler.stop()]);
    this.proxy.close();
  }
}
