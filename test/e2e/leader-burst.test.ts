// The leader is killed in the middle of a burst of 1,000 namespaces: the next leader completes all of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { configMap, namespaceObject, policy } from './support/objects.ts';
import { Stage } from './support/stage.ts';

const burst = 1000;
const perRequest = 20;

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly namespace: string; readonly resourceVersion: string };
  }[];
}

describeControllers('a burst of namespaces', { timeout: 900_000 }, () => {
  let cluster: ControlPlane;
  let stage: Stage;
  let webhook: Reeve;
  let leader: Reeve;
  let next: Reeve;

  beforeAll(async () => {
    cluster = await startControlPlane({ audit: false });
    await installReeve(cluster);
    stage = new Stage(cluster, 'lb-');
    webhook = await startReeve(cluster, { role: 'webhook' });
    leader = await startReeve(cluster, { role: 'reconciler' });
    await until(
      async () => (await leader.metric('reeve_leader')) === 1,
      () => leader.output,
    );
    next = await startReeve(cluster, { role: 'reconciler' });
    const contents = { resources: [configMap('settings', { a: 'b' })] };
    await stage.apply(policy('lb-policy', { match: { names: ['lb-*'] }, contents }));
  });
  afterAll(async () => {
    leader.kill('SIGKILL');
    await Promise.all([next.stop(), webhook.stop()]);
    await cluster.stop();
  });

  const provided = async (): Promise<Listed['items']> => {
    const selector = 'labelSelector=app.kubernetes.io%2Fmanaged-by%3Dreeve';
    return ((await cluster.admin.mustSend('GET', `/api/v1/configmaps?${selector}`)) as Listed).items;
  };

  test('the next leader completes all 1,000 namespaces, and writes no object twice', async () => {
    const names = Array.from({ length: burst }, (_, index) => `lb-${index}`);
    const create = async (): Promise<void> => {
      for (let from = 0; from < burst; from += perRequest)
        await Promise.all(
          names
            .slice(from, from + perRequest)
            .map((name) => cluster.admin.mustSend('POST', '/api/v1/namespaces', namespaceObject(name))),
        );
    };
    const created = create();
    await until(
      async () => (await provided()).length > burst / 4,
      async () => `${(await provided()).length} objects`,
      300,
    );
    leader.kill('SIGKILL');
    const before = await provided();
    expect(before.length).toBeLessThan(burst);
    await created;
    await until(
      async () => (await provided()).length === burst,
      async () => `${(await provided()).length} objects\n${next.output.slice(-4000)}`,
      300,
    );
    await until(
      async () => (await stage.condition({ kind: 'NamespacePolicy', name: 'lb-policy' })) === 'True Synced',
      () => stage.condition({ kind: 'NamespacePolicy', name: 'lb-policy' }),
    );
    const versions = new Map(
      (await provided()).map(({ metadata }) => [metadata.namespace, metadata.resourceVersion]),
    );
    const rewritten = before.filter(
      ({ metadata }) => versions.get(metadata.namespace) !== metadata.resourceVersion,
    );
    expect(rewritten).toEqual([]);
  });
});
