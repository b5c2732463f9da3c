// The API server or the connection to it fails: Reeve misses no change, and writes nothing that is not needed.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditRecord } from '../cluster/audit-record.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { spawnReeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { BoundToken } from './support/bound-token.ts';
import { interruptions, silence, turnedAway } from './support/connection-news.ts';
import { FaultScene } from './support/fault-scene.ts';
import { idleFor, type IdleConnection } from './support/idle-connection.ts';
import { configMap, namespaceObject, policy, roleBinding } from './support/objects.ts';
import { limitRequests, liftLimit } from './support/request-limit.ts';
import { fallSilent, type Silence } from './support/silent-webhook.ts';
import type { Stage } from './support/stage.ts';
import { TrackedContents } from './support/tracked-contents.ts';
import { WritingRival } from './support/writing-rival.ts';
import { once, WrittenObjects } from './support/written-objects.ts';

const allWell = [true, true, true];

/** Waits until Reeve reports this condition of the namespace: `True Synced`. */
async function isSaid(stage: Stage, namespace: string, verdict: string): Promise<void> {
  const condition = (): Promise<string> =>
    stage.condition({ kind: 'Namespace', name: namespace }, 'reeve.dev/Ready');
  await until(async () => (await condition()) === verdict, condition);
}

describeControllers('faults', () => {
  /** Reeve on a control plane that stays whole. */
  let near: FaultScene;
  /** A control plane that the tests may break. `far` runs on it. */
  let plane: ControlPlane;
  let whole: ControlPlane;
  let far: FaultScene;
  let token: BoundToken;
  /** The tests of idle connections and of a silent watch run beside all others. */
  let idle: Promise<readonly IdleConnection[]>;
  let silent: Promise<Silence>;

  beforeAll(async () => {
    [whole, plane] = await Promise.all([
      startControlPlane(),
      startControlPlane({
        // With its watch cache the API server would still serve from memory what etcd has compacted.
        apiServerFlags: ['--watch-cache-sizes=namespaces#0,secrets#0'],
      }),
    ]);
    near = await FaultScene.start(whole, 'fa-');
    token = new BoundToken(plane);
    idle = Promise.all([6, 66, 91].map((seconds) => idleFor(seconds, near.cluster, near.webhook.port)));
    silent = fallSilent(near.stage, 'fa-unheard');
    // The test that awaits the promise reports its rejection.
    for (const each of [idle, silent]) each.catch(() => undefined);
    far = await FaultScene.start(plane, 'fa-', () => token.kubeconfig());
  });
  afterAll(async () => {
    await Promise.all([near.stop(), far.stop()]);
    await Promise.all([whole.stop(), plane.stop()]);
  });

  const expectNoWriteInVain = async (contents: TrackedContents): Promise<void> => {
    expect(await contents.writtenInVain()).toEqual([]);
    const { needed, done } = await contents.writeCounts();
    expect(done).toEqual(needed);
  };

  test.concurrent(
    'Reeve recovers when every connection is cut again and again',
    async ({ onTestFinished }) => {
      onTestFinished(async () => void (await Promise.all([near.proxy.heal(), near.webhookProxy.heal()])));
      const contents = await TrackedContents.prepare(near.stage, 'fa-cut');
      near.proxy.cutAgainAndAgain(700);
      await contents.add(8);
      await contents.settled();
      near.webhookProxy.cutAgainAndAgain(700);
      await near.forbid('fa-cut-rule');
      await contents.strip('fa-cut-1', 'fa-cut-2', 'fa-cut-3');
      await contents.settled();
      await near.refuses('fa-cut-rule');
      // The webhook must reach the API server to check a user who brings a namespace under a policy or changes a policy.
      await near.webhookProxy.heal();
      await contents.changeSource();
      await contents.settled();
      await contents.changePolicy();
      await contents.settled();
      await Promise.all([contents.replace('fa-cut-4'), contents.remove('fa-cut-5', 'fa-cut-6')]);
      await contents.settled();
      await near.proxy.heal();
      await contents.add(1);
      await contents.settled();
      await expectNoWriteInVain(contents);
      for (const reeve of [near.reconciler, near.webhook])
        expect(await interruptions(reeve, 'Disconnected')).toBeGreaterThan(0);
      expect(await near.health()).toEqual(allWell);
    },
  );

  test.concurrent(
    'changes are found although the API server forgot them before the connection came back',
    async () => {
      const contents = await TrackedContents.prepare(far.stage, 'fa-old');
      await contents.changePolicy();
      await contents.settled();
      far.proxy.refuse();
      far.proxy.cut();
      await contents.strip('fa-old-0');
      await Promise.all([contents.replace('fa-old-1'), contents.remove('fa-old-2'), contents.add(2)]);
      // The proxy refuses only now, because the earlier writes make the webhook check the user with the API server.
      far.webhookProxy.refuse();
      far.webhookProxy.cut();
      await far.forbid('fa-old-rule');
      await plane.compact();
      await Promise.all([far.proxy.heal(), far.webhookProxy.heal()]);
      await contents.settled();
      await far.refuses('fa-old-rule');
      await expectNoWriteInVain(contents);
      expect(await far.health()).toEqual(allWell);
    },
  );

  test('a replaced token is picked up when the old token is no longer valid', async () => {
    const contents = await TrackedContents.prepare(far.stage, 'fa-token');
    const old = await token.revoke();
    // The restart clears the API server's cache of valid tokens.
    await plane.restartApiServer({ signal: 'SIGKILL' });
    expect(await token.isGood(old)).toBe(false);
    await until(
      async () => (await turnedAway(far.reconciler, 401)) > 0,
      () => far.reconciler.output,
    );
    await token.issue();
    await contents.add(2);
    await contents.settled();
    await expectNoWriteInVain(contents);
  });

  test.concurrent(
    'an object that is changed back again and again is rewritten at a limited rate',
    async () => {
      const { stage, cluster, reconciler } = near;
      const written = new WrittenObjects(cluster);
      const resources = ['settings', 'others'].map((name) => configMap(name, { by: 'reeve' }));
      const settings = { kind: 'ConfigMap', name: 'settings', namespace: 'fa-rival' } as const;
      const others = { ...settings, name: 'others' };
      await stage.apply(namespaceObject('fa-rival'));
      const rival = await WritingRival.begin(cluster, settings);
      await stage.apply(policy('fa-rival', { match: { names: ['fa-rival'] }, contents: { resources } }));
      await isSaid(stage, 'fa-rival', 'False Contended');
      // Reeve still keeps the rest of the namespace.
      await stage.inEmergency('delete', 'configmap', 'others', '-n', 'fa-rival');
      await until(
        async () => (await stage.get(others)) !== undefined,
        () => 'the other ConfigMap',
      );
      // Reeve writes once more after the first pause.
      await until(
        async () =>
          (await written.timesOf(settings)).length > 10 && rival.hasIts(await stage.mustGet(settings)),
        () => 'another try',
      );
      await rival.giveUp();
      // Before Reeve has seen the last change of the rival, it may report that all contents are correct.
      await until(
        async () => !rival.hasIts(await stage.mustGet(settings)),
        () => 'the last word of Reeve',
      );
      await isSaid(stage, 'fa-rival', 'True Synced');
      const contended = await reconciler.metric('reeve_reconcile_contended_total{kind="ConfigMap"}');
      expect(contended).toBeGreaterThan(0);
      // Reeve writes ten times without a pause, and then after 5 s, after 10 s, and so on.
      const [tenth = 0, ...later] = (await written.timesOf(settings)).slice(9);
      const pauses = later.map((time, index) => time - (later[index - 1] ?? tenth));
      expect(pauses.length).toBeGreaterThan(1);
      expect(pauses.filter((pause, index) => pause < 5000 * 2 ** index)).toEqual([]);
    },
  );

  test.concurrent('a right that is removed and granted again is noticed', async () => {
    const { stage, cluster, reconciler } = near;
    const written = new WrittenObjects(cluster);
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'limits' } };
    await stage.apply(
      policy('fa-right', {
        match: { names: ['fa-right-*'] },
        contents: {
          roleBindings: [roleBinding('people', 'fa-people')],
          resources: [{ ...quota, spec: { hard: { pods: '50' } } }],
        },
      }),
    );
    const without = { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }] };
    const role = ['clusterrole', 'reeve-reconciler-resources'];
    await stage.kubectl('patch', ...role, '--type=merge', `-p=${JSON.stringify(without)}`);
    await stage.apply(namespaceObject('fa-right-1'));
    await isSaid(stage, 'fa-right-1', 'False InsufficientPermissions');
    const failures = 'reeve_reconcile_failures_total{kind="ResourceQuota",reason="InsufficientPermissions"}';
    expect(await reconciler.metric(failures)).toBeGreaterThan(0);
    expect(await written.in(['fa-right-1'])).toEqual(['create rolebindings fa-right-1/people']);
    await stage.kubectl('apply', '-f', 'manifests/install/23-reconciler-resources.yaml');
    await isSaid(stage, 'fa-right-1', 'True Synced');
    expect(await written.in(['fa-right-1'])).toEqual(
      once(['fa-right-1'], 'create resourcequotas limits', 'create rolebindings people'),
    );
  });

  test.concurrent.for(['reconciler', 'webhook'] as const)(
    'a %s that has never reached the API server is not ready, and is once it has',
    async (role) => {
      using proxy = await startFaultProxy(new URL(near.cluster.server));
      const account = await near.cluster.tokenKubeconfig('reeve-system', `reeve-${role}`);
      const kubeconfig = await proxy.kubeconfigLike(account);
      proxy.refuse();
      await using reeve = await spawnReeve(near.cluster, { role, kubeconfig });
      await until(
        async () => (await reeve.metrics()) !== '',
        () => reeve.output,
      );
      expect(await reeve.isReady()).toBe(false);
      await proxy.heal();
      await until(
        async () => await reeve.isReady(),
        () => reeve.output,
      );
    },
  );

  test.concurrent('Reeve recovers when the API server is away for twenty seconds', async () => {
    const contents = await TrackedContents.prepare(far.stage, 'fa-away');
    await plane.restartApiServer({
      downFor: async () => {
        const over = sleep(20_000);
        await far.leads(false);
        await over;
        // No review arrives now, and no newer state exists than the state that the webhook knows.
        expect(await far.webhook.isReady()).toBe(true);
        for (const reeve of [far.webhook, far.reconciler])
          expect(await silence(reeve, '/api/v1/namespaces')).toBeGreaterThan(19);
      },
    });
    await contents.add(2);
    await contents.strip('fa-away-0');
    await contents.settled();
    await expectNoWriteInVain(contents);
    await far.leads(true);
  });

  test('Reeve recovers when etcd stops for ten seconds', async () => {
    const contents = await TrackedContents.prepare(far.stage, 'fa-etcd');
    const before = far.reconciler.output.length;
    await contents.add(20);
    plane.pause('etcd');
    await sleep(10_000);
    expect(await far.webhook.isReady()).toBe(true);
    plane.resume('etcd');
    await contents.settled();
    await expectNoWriteInVain(contents);
    expect(far.reconciler.output.slice(before)).toContain('lease not renewed');
    await far.leads(true);
    expect(await far.health()).toEqual(allWell);
  });

  test.concurrent('Reeve waits as the API server asks with 429', async () => {
    const contents = await TrackedContents.prepare(far.stage, 'fa-busy');
    const written = new WrittenObjects(plane);
    await limitRequests(plane);
    await written.forget();
    await contents.add(30);
    await contents.changePolicy();
    await contents.settled();
    await liftLimit(plane);
    const asked = await written.records();
    const refused = asked.filter(({ status }) => status === 429).length;
    expect(refused).toBeGreaterThan(0);
    expect(await turnedAway(far.reconciler, 429)).toBeGreaterThan(0);
    // Each request waits as long as its 429 answer says, and these times differ.
    expect(refused).toBeLessThan(asked.length / 2);
    expect(pausesAfter429(asked).filter((pause) => pause < retryAfterMs)).toEqual([]);
    await expectNoWriteInVain(contents);
    expect(await far.health()).toEqual(allWell);
  });

  test.concurrent('Reeve recovers when a gateway silently drops every connection', async () => {
    const { proxy, reconciler, stage } = near;
    const contents = await TrackedContents.prepare(stage, 'fa-silent');
    // Many requests at once leave many idle connections for later requests.
    await contents.add(8);
    await contents.settled();
    const before = reconciler.output.length;
    proxy.silence('open');
    await near.renews(2);
    // After the first timeout, Reeve replaces the other connections too.
    const swallowed = reconciler.output.slice(before).match(/"reason":"Timeout"/g) ?? [];
    expect(swallowed.length).toBeLessThan(3);
    await contents.changeSource();
    // At last the gateway resets the connections.
    proxy.cut();
    await contents.settled();
    await expectNoWriteInVain(contents);
    expect(await near.health()).toEqual(allWell);
  });

  test('a watch that is silent for too long is opened again', async () => {
    const { longest, stalled, isReady } = await silent;
    // The API server itself is never silent for longer than a minute.
    expect(longest).toBeGreaterThan(60);
    expect(stalled).toBeGreaterThan(0);
    expect(isReady).toBe(true);
  });

  test('a kept-alive connection still works after 6, 66 or 91 idle seconds', async () => {
    // After 90 s the API server itself closes the idle connection and opens another one.
    expect(await idle).toEqual([
      { status: 200, connections: 1 },
      { status: 200, connections: 1 },
      { status: 200, connections: 2 },
    ]);
  });
});

/** The shortest pause for which an API server asks in a 429 answer. */
const retryAfterMs = 1000;

/** Returns the pauses between each request answered with 429 and its retry. */
function pausesAfter429(records: readonly AuditRecord[]): readonly number[] {
  const writes = records.filter(({ verb }) => verb === 'patch');
  const tries = Map.groupBy(writes, ({ uri }) => uri).values();
  return [...tries].flatMap((each) => {
    const inOrder = each.toSorted((a, b) => Date.parse(a.receivedAt) - Date.parse(b.receivedAt));
    return inOrder.flatMap(({ status, receivedAt }, index) => {
      const next = inOrder[index + 1];
      const isPause = status === 429 && next !== undefined;
      return isPause ? [Date.parse(next.receivedAt) - Date.parse(receivedAt)] : [];
    });
  });
}
