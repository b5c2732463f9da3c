// Runs Reeve on a control plane. Each role reaches the API server through a proxy of its own that can fail.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.ts';
import { startReeve, type Reeve } from '../../support/reeve.ts';
import { until } from '../../support/until.ts';
import { namespaceObject, policy } from './objects.ts';
import { Stage } from './stage.ts';

type Proxies = readonly [FaultProxy, FaultProxy];

export class FaultScene {
  readonly cluster: ClusterAccess;
  readonly stage: Stage;
  /** The proxy of the reconciler. */
  readonly proxy: FaultProxy;
  readonly webhookProxy: FaultProxy;
  readonly webhook: Reeve;
  readonly reconciler: Reeve;

  private constructor(stage: Stage, proxies: Proxies, webhook: Reeve, reconciler: Reeve) {
    this.cluster = stage.cluster;
    this.stage = stage;
    [this.proxy, this.webhookProxy] = proxies;
    this.webhook = webhook;
    this.reconciler = reconciler;
  }

  /** `kubeconfig`: how the reconciler authenticates. Default: with a token that stays valid. */
  static async start(
    cluster: ClusterAccess,
    prefix: string,
    kubeconfig = cluster.tokenKubeconfig.bind(cluster, 'reeve-system', 'reeve-reconciler'),
  ): Promise<FaultScene> {
    await installReeve(cluster);
    const server = new URL(cluster.server);
    const proxies: Proxies = [await startFaultProxy(server), await startFaultProxy(server)];
    const [proxy, webhookProxy] = proxies;
    try {
      const ofWebhook = await cluster.tokenKubeconfig('reeve-system', 'reeve-webhook');
      const [throughProxy, throughOther] = await Promise.all([
        proxy.kubeconfigLike(await kubeconfig()),
        webhookProxy.kubeconfigLike(ofWebhook),
      ]);
      const [webhook, reconciler] = await Promise.all([
        startReeve(cluster, { role: 'webhook', kubeconfig: throughOther }),
        startReeve(cluster, { role: 'reconciler', kubeconfig: throughProxy }),
      ]);
      return new FaultScene(new Stage(cluster, prefix), proxies, webhook, reconciler);
    } catch (error) {
      for (const each of proxies) each.close();
      throw error;
    }
  }

  /** Returns three facts: the webhook is ready, the reconciler is ready, the reconciler leads. */
  async health(): Promise<readonly unknown[]> {
    const { webhook, reconciler } = this;
    const leads = (await reconciler.metric('reeve_leader')) === 1;
    return [await webhook.isReady(), await reconciler.isReady(), leads];
  }

  /** Waits until the reconciler reports that it leads, or that it does not. */
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

  /** Waits until the leader has renewed its Lease this many times. */
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

  /** Writes a policy without the webhook, which may be unable to check the rights of the author. */
  async forbid(name: string): Promise<void> {
    const namespaces = { name: { pattern: `^${name}-good$` } };
    await this.stage.applyInEmergency(policy(name, { match: { names: [`${name}-*`] }, namespaces }));
  }

  /** Waits until the webhook enforces the policy that `forbid` wrote. */
  async refuses(name: string): Promise<void> {
    const { admin } = this.cluster;
    const path = '/api/v1/namespaces?dryRun=All';
    let last = 0;
    await until(
      async () => {
        last = (await admin.send('POST', path, namespaceObject(`${name}-bad`))).status;
        return last === 403;
      },
      () => `what ${name} forbids is answered with ${last}`,
    );
  }

  async #renewTime(): Promise<string> {
    const lease = ['lease', 'reeve-reconciler', '-n', 'reeve-system'];
    return await this.stage.kubectl('get', ...lease, '-o=jsonpath={.spec.renewTime}');
  }

  async stop(): Promise<void> {
    const proxies = [this.proxy, this.webhookProxy];
    await Promise.all(proxies.map((each) => each.heal()));
    await this.stage.cleanUp();
    await Promise.all([this.webhook.stop(), this.reconciler.stop()]);
    for (const each of proxies) each.close();
  }
}
