// Two reconcilers with jumping clocks or a slow or forbidden Lease: never two leaders, and no needless time without a leader.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { SettableClock } from '../support/settable-clock.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { Stage } from './support/stage.ts';
import { TrackedContents } from './support/tracked-contents.ts';

const prefix = 'fa-ld-';
const lease = '/apis/coordination.k8s.io/v1/namespaces/reeve-system/leases/reeve-reconciler';
const anHour = 3_600_000;
const leaseMs = 15_000;

interface Lease {
  readonly spec: {
    readonly holderIdentity: string;
    readonly acquireTime?: string;
    readonly renewTime: string;
  };
}

describeControllers('the lead', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const clocks = [new SettableClock(cluster.folder), new SettableClock(cluster.folder)] as const;
  let proxy: FaultProxy;
  let webhook: Reeve;
  let leader: Reeve;
  let other: Reeve;
  let contents: TrackedContents;

  beforeAll(async () => {
    await installReeve(cluster);
    proxy = await startFaultProxy(new URL(cluster.server));
    const account = await cluster.tokenKubeconfig('reeve-system', 'reeve-reconciler');
    const kubeconfig = await proxy.kubeconfigLike(account);
    webhook = await startReeve(cluster, { role: 'webhook' });
    leader = await startReeve(cluster, { role: 'reconciler', kubeconfig, env: clocks[0].env });
    await leads(leader, 1);
    other = await startReeve(cluster, { role: 'reconciler', env: clocks[1].env });
    contents = await TrackedContents.prepare(stage, `${prefix}kept`);
  });
  afterAll(async () => {
    await proxy.heal();
    await stage.cleanUp();
    await Promise.all([leader, other, webhook].map((each) => each.stop()));
    proxy.close();
  });

  const leads = async (reeve: Reeve, expected: number): Promise<void> => {
    let last: number | undefined;
    await until(
      async () => (last = await reeve.metric('reeve_leader')) === expected,
      () => `reeve_leader is ${last}`,
    );
  };
  const leaseNow = async (): Promise<Lease['spec']> =>
    ((await cluster.admin.mustSend('GET', lease)) as Lease).spec;

  test('a clock that jumps by an hour does not change the leader', async () => {
    const { holderIdentity } = await leaseNow();
    for (const shift of [anHour, -anHour]) {
      await Promise.all([clocks[0].shift(leader, shift), clocks[1].shift(other, -shift)]);
      // Going by the renewTime of the Lease, it ended long ago, or lasts much longer.
      const aheadMs = async (): Promise<number> => Date.parse((await leaseNow()).renewTime) - Date.now();
      await until(
        async () => Math.sign(shift) * (await aheadMs()) > anHour / 2,
        async () => `ahead by ${await aheadMs()} ms`,
      );
      await contents.add(1);
      await contents.settled();
    }
    expect((await leaseNow()).holderIdentity).toBe(holderIdentity);
    expect(leader.output).not.toContain('lead lost');
    expect(other.output).not.toContain('"leading"');
    expect(await contents.writtenInVain()).toEqual([]);
  });

  test('a leader whose calls take 16 s steps down before its Lease ends', async () => {
    const before = await leaseNow();
    proxy.delay(8000);
    await leads(leader, 0);
    expect((await leaseNow()).holderIdentity).toBe(before.holderIdentity);
    await contents.add(2);
    await leads(other, 1);
    expect(await leader.metric('reeve_leader')).toBe(0);
    // Compares real times, because the clocks of the reconcilers are two hours apart.
    const { acquireTime = '' } = await leaseNow();
    const waitedMs = Date.parse(acquireTime) - Date.parse(before.renewTime) - 2 * anHour;
    expect(waitedMs).toBeGreaterThanOrEqual(leaseMs);
    await contents.settled();
    await proxy.heal();
    await until(
      () => leader.isReady(),
      () => leader.output,
    );
    expect(await contents.writtenInVain()).toEqual([]);
  });

  test('without the right to write the Lease there is no leader, metrics and log say so, and all work is done afterwards', async () => {
    const before = other.output.length;
    const said = (): string => other.output.slice(before);
    const role = ['role', 'reeve-reconciler', '-n', 'reeve-system'];
    const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] }];
    await stage.kubectl('patch', ...role, '--type=merge', `-p=${JSON.stringify({ rules })}`);
    try {
      await leads(other, 0);
      expect(await leader.metric('reeve_leader')).toBe(0);
      await until(() => Promise.resolve(said().includes('"msg":"lead lost"')), said);
      expect(said()).toContain('"code":403');
      await contents.add(2);
    } finally {
      await stage.kubectl('apply', '-f', 'manifests/install/20-reconciler.yaml');
    }
    await contents.settled();
    expect(await contents.writtenInVain()).toEqual([]);
  });
});
