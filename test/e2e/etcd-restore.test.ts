// Restores etcd from a backup while Reeve runs: Reeve and the webhook notice it without a restart.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { FaultScene } from './support/fault-scene.ts';
import { inTime } from './support/in-time.ts';
import { configMap, namespaceObject, policy, type Ref } from './support/objects.ts';

/** Within this time after the API server is back, Reeve must keep the restored state. */
const healedSeconds = 30;
const kept: Ref = { kind: 'NamespacePolicy', name: 'er-kept' };

const keptPolicy = (value: string) =>
  policy('er-kept', {
    match: { names: ['er-*'] },
    contents: { resources: [configMap('settings', { value })] },
  });

describeControllers('etcd that is restored from a backup', { timeout: 600_000 }, () => {
  let plane: ControlPlane;
  let scene: FaultScene;

  beforeEach(async () => {
    plane = await startControlPlane();
    scene = await FaultScene.start(plane, 'er-');
  });
  afterEach(async () => {
    await scene.stop();
    await plane.stop();
  });

  const valuesIn = async (...namespaces: readonly string[]): Promise<readonly string[]> =>
    await Promise.all(
      namespaces.map(async (namespace) => {
        const found = await scene.stage.get({ kind: 'ConfigMap', name: 'settings', namespace });
        return (found?.['data'] as { value?: string } | undefined)?.value ?? 'absent';
      }),
    );
  const newestVersion = async (): Promise<number> => {
    const { body } = await plane.admin.send('GET', '/api/v1/namespaces?limit=1');
    return Number((body as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
  };
  const writeUntil = async (version: number): Promise<void> => {
    const metadata = { generateName: 'er-' };
    const path = '/api/v1/namespaces/default/configmaps';
    while ((await newestVersion()) < version)
      await Promise.all(Array.from({ length: 20 }, () => plane.admin.send('POST', path, { metadata })));
  };
  const isAllowed = async (name: string): Promise<boolean> => {
    const { status } = await plane.admin.send('POST', '/api/v1/namespaces?dryRun=All', namespaceObject(name));
    return status === 201;
  };

  it.for([
    ['whose numbers have not passed the lost ones', false],
    ['whose numbers have passed the lost ones', true],
  ] as const)('a state %s is kept within 30 s without a restart', async ([, isPassed]) => {
    const { stage, proxy, webhookProxy } = scene;
    await stage.apply(keptPolicy('old'), ...['er-a', 'er-b'].map((name) => namespaceObject(name)));
    await inTime(() => valuesIn('er-a', 'er-b')).toEqual(['old', 'old']);
    await plane.backUpEtcd();
    await scene.leads(true);

    // The future that the restore loses.
    await stage.applyInEmergency(keptPolicy('lost'), namespaceObject('er-c'));
    await stage.kubectl('delete', 'namespace', 'er-b');
    await scene.forbid('er-lost');
    await scene.refuses('er-lost');
    await inTime(() => valuesIn('er-a', 'er-c')).toEqual(['lost', 'lost']);
    await writeUntil((await newestVersion()) + 300);
    const lost = await newestVersion();

    if (isPassed) {
      for (const each of [proxy, webhookProxy]) {
        each.refuse();
        each.cut();
      }
    }
    await plane.restoreEtcd();
    expect(await newestVersion()).toBeLessThan(lost);
    await stage.applyInEmergency(keptPolicy('new'));
    if (isPassed) {
      await writeUntil(lost + 50);
      await Promise.all([proxy.heal(), webhookProxy.heal()]);
    }
    const since = performance.now();
    const left = (): number => healedSeconds - (performance.now() - since) / 1000;
    let values: readonly string[] = [];
    await until(
      async () => (values = await valuesIn('er-a', 'er-b', 'er-c')).join() === 'new,new,absent',
      () => `${values.join()}\n${scene.reconciler.output}`,
      left(),
    );
    await until(
      () => isAllowed('er-lost-bad'),
      () => `the webhook still judges by a lost policy\n${scene.webhook.output}`,
      left(),
    );
    await until(
      async () => (await stage.condition(kept)) === 'True Synced',
      () => stage.condition(kept),
      left(),
    );
    await stage.remove(kept);
    expect(await valuesIn('er-a', 'er-b')).toEqual(['absent', 'absent']);
  });
});
