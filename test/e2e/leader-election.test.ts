// Several replicas of Reeve, and a single one: exactly one writes, each object once, and the end of a replica is not noticed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { startReeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { Fleet } from './support/fleet.ts';
import { configMap, policy, roleBinding } from './support/objects.ts';
import { ReviewTraffic } from './support/review-traffic.ts';
import { Stage } from './support/stage.ts';
import { once, WrittenObjects } from './support/written-objects.ts';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';

const prefix = 'fa-le-';
const lease = '/apis/coordination.k8s.io/v1/namespaces/reeve-system/leases/reeve-reconciler';

/** Returns a policy that provides two objects in each matching namespace. */
function basics(name: string, namespaces: string) {
  return policy(name, {
    match: { names: [namespaces] },
    contents: {
      roleBindings: [roleBinding('fa-edit', 'fa-people')],
      resources: [configMap('fa-settings', { a: 'b' })],
    },
    maxDeletions: 1000,
  });
}
const creates = ['create configmaps fa-settings', 'create rolebindings fa-edit'];

/** The outcome of ReviewTraffic for a namespace that got its default label and followed the rules. */
const judged = '201 {"team":"fa"}';
const leaseMs = 15_000;

interface Lease {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly acquireTime?: string;
    readonly renewTime?: string;
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
const timeOf = (text = ''): number => Date.parse(text);

describeControllers('replicas', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const written = new WrittenObjects(cluster);

  beforeAll(async () => {
    await installReeve(cluster);
    // Written before any webhook runs, and without a webhook that an earlier test may have left.
    await stage.applyInEmergency(
      basics('fa-le-basics', 'fa-le-many-*'),
      policy('fa-le-defaults', {
        match: { names: ['fa-le-traffic-*'] },
        namespaces: { defaults: { labels: { team: 'fa' } } },
      }),
    );
  });

  const leaseOf = async (): Promise<NonNullable<Lease['spec']>> => {
    const { spec = {} } = (await cluster.admin.mustSend('GET', lease)) as Lease;
    return spec;
  };
  const makeNamespaces = async (...names: readonly string[]): Promise<void> => {
    await Promise.all(
      names.map((name) =>
        cluster.admin.mustSend('POST', '/api/v1/namespaces', {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name },
        }),
      ),
    );
  };
  /** Waits until the policy reports that all its objects exist. */
  const done = async (name: string, desired: number): Promise<void> => {
    let last = '';
    await until(
      async () => {
        const { status } = await stage.mustGet({ kind: 'NamespacePolicy', name });
        last = `${status?.synced} of ${status?.desired}`;
        return last === `${desired} of ${desired}`;
      },
      () => `all ${desired} of ${name}: ${last}`,
    );
  };

  test('a single replica leads without a Lease', async () => {
    const before = await leaseOf();
    const alone = await startReeve(cluster, { args: ['--leader-elect=false'] });
    await makeNamespaces('fa-le-solo');
    await stage.apply(basics('fa-le-solo', 'fa-le-solo'));
    await done('fa-le-solo', 2);
    expect(await alone.metric('reeve_leader')).toBe(1);
    expect(await leaseOf()).toEqual(before);
    await alone.stop();
    expect(await written.in(['fa-le-solo'])).toEqual(once(['fa-le-solo'], ...creates));
  });

  describe('two webhooks and two reconcilers', () => {
    let fleet: Fleet;
    let proxy: FaultProxy;
    beforeAll(async () => {
      fleet = await Fleet.start(cluster);
    });
    afterAll(async () => {
      await stage.cleanUp();
      await fleet.stop();
      proxy.close();
    });

    test('one reconciler leads, the other is ready too, and each object is written once', async () => {
      const leader = await fleet.leader();
      const others = fleet.reconcilers.filter((each) => each !== leader);
      expect(await Promise.all(others.map((each) => each.metric('reeve_leader')))).toEqual([0]);
      expect(await Promise.all(fleet.reconcilers.map((each) => each.isReady()))).toEqual([true, true]);
      const namespaces = ['fa-le-many-1', 'fa-le-many-2', 'fa-le-many-3', 'fa-le-many-4'];
      await makeNamespaces(...namespaces);
      await done('fa-le-basics', 8);
      expect(await written.in(namespaces)).toEqual(once(namespaces, ...creates));
      // The condition of a namespace is written beside the status of the policy.
      await eventually(() => written.conditionsOf(namespaces)).toEqual([1, 1, 1, 1]);
    });

    test('a leader that is stopped by a signal releases its Lease', async () => {
      const leader = await fleet.leader();
      const before = await leaseOf();
      fleet.takeAway(leader);
      await leader.stop();
      expect((await leaseOf()).holderIdentity).not.toBe(before.holderIdentity);
      await fleet.leader();
      const { acquireTime } = await leaseOf();
      // Read from the Lease itself: a Lease that was not released lasts leaseMs from the last renewal.
      expect(timeOf(acquireTime) - timeOf(before.renewTime)).toBeLessThan(leaseMs);
      await makeNamespaces('fa-le-many-5');
      await done('fa-le-basics', 10);
      expect(await written.in(['fa-le-many-5'])).toEqual(once(['fa-le-many-5'], ...creates));
    });

    test.concurrent(
      'a killed leader is replaced when its Lease ends, and the next leader finishes the work',
      async () => {
        const leader = await fleet.leader();
        proxy = await startFaultProxy(new URL(cluster.server));
        const account = await cluster.tokenKubeconfig('reeve-system', 'reeve-reconciler');
        await fleet.addReconciler({ kubeconfig: await proxy.kubeconfigLike(account) });
        fleet.takeAway(leader);
        leader.kill('SIGKILL');
        await leader.ended();
        const before = await leaseOf();
        await makeNamespaces('fa-le-many-6', 'fa-le-killed');
        await stage.apply(basics('fa-le-killed', 'fa-le-killed'));
        await fleet.leader();
        const after = await leaseOf();
        expect(after.holderIdentity).not.toBe(before.holderIdentity);
        const leaderlessMs = timeOf(after.acquireTime) - timeOf(before.renewTime);
        expect(leaderlessMs).toBeGreaterThanOrEqual(leaseMs);
        // The other replicas check the Lease every two seconds, and the machine may be busy.
        expect(leaderlessMs).toBeLessThan(2 * leaseMs);
        await done('fa-le-killed', 2);
        await done('fa-le-basics', 12);
        const namespaces = ['fa-le-many-6', 'fa-le-killed'];
        expect(await written.in(namespaces)).toEqual(once(namespaces, ...creates));
      },
    );

    test.concurrent('webhooks are replaced one after the other without a lost request', async () => {
      const traffic = new ReviewTraffic(cluster, 'fa-le-traffic-');
      for (const old of fleet.webhooks) {
        await fleet.addWebhook();
        old.kill('SIGTERM');
        await fleet.noMoreFor(old);
        expect((await old.ended()).code).toBe(0);
        await traffic.answered(50);
      }
      expect(Object.keys(await traffic.stop())).toEqual([judged]);
    });

    test('a killed webhook loses only the requests of that moment, and lets nothing pass', async () => {
      const traffic = new ReviewTraffic(cluster, 'fa-le-traffic-');
      await traffic.answered(50);
      const [killed] = fleet.webhooks;
      killed?.kill('SIGKILL');
      await killed?.ended();
      if (killed !== undefined) await fleet.noMoreFor(killed);
      await traffic.answered(2 * traffic.lanes);
      const { [judged]: before = 0, ...failed } = traffic.outcomes;
      await traffic.answered(50);
      const { [judged]: after = 0, ...failedSince } = await traffic.stop();
      expect(after).toBeGreaterThan(before);
      expect(failedSince).toEqual(failed);
      expect(sum(Object.values(failed))).toBeLessThanOrEqual(2 * traffic.lanes);
      expect(Object.keys(failed).filter((outcome) => outcome.startsWith('201'))).toEqual([]);
    });

    test('a leader that stops for longer than its Lease does nothing twice when it continues', async () => {
      const paused = await fleet.leader();
      await fleet.addReconciler();
      const namespaces = Array.from({ length: 40 }, (_, index) => `fa-le-paused-${index}`);
      await makeNamespaces(...namespaces);
      // Each write takes a second, so the leader has written only a part when the test sees its first write.
      proxy.delay(500);
      await stage.apply(basics('fa-le-paused', 'fa-le-paused-*'));
      await eventually(async () => (await written.in(namespaces)).length).toBeGreaterThan(0);
      paused.kill('SIGSTOP');
      fleet.takeAway(paused);
      expect((await written.in(namespaces)).length).toBeLessThan(creates.length * namespaces.length);
      await fleet.leader();
      await done('fa-le-paused', 80);
      paused.kill('SIGCONT');
      fleet.putBack(paused);
      await eventually(() => paused.metric('reeve_leader')).toBe(0);
      await eventually(() => paused.isReady()).toBe(true);
      await makeNamespaces('fa-le-paused-40');
      await done('fa-le-paused', 82);
      const all = [...namespaces, 'fa-le-paused-40'];
      expect(await written.in(all)).toEqual(once(all, ...creates));
      // The paused replica sent no write: a write that another replica had already done would have been refused.
      expect((await paused.metrics()).match(/^reeve_reconcile_failures_total.*$/gm)).toBeNull();
    });

    test('each object was written once through all these changes', async () => {
      const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
      const namespaces = [
        'fa-le-solo',
        'fa-le-killed',
        ...numbers(6).map((index) => `fa-le-many-${index + 1}`),
        ...numbers(41).map((index) => `fa-le-paused-${index}`),
      ];
      expect(await written.in(namespaces)).toEqual(once(namespaces, ...creates));
    });
  });
});
