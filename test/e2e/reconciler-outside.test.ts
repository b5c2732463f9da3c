// The reconciler outside the cluster: `reeve run --role reconciler --kubeconfig` with the token of its account.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { installReeve, removeWebhooks } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { keptReeve, startReeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { guardSays } from './guard-scene.ts';

const policy = {
  apiVersion: 'reeve.dev/v1alpha1',
  kind: 'NamespacePolicy',
  metadata: { name: 'outside-teams' },
  spec: {
    match: { names: ['outside-*'] },
    contents: {
      roleBindings: [
        {
          name: 'team',
          roleRef: { kind: 'ClusterRole', name: 'view' },
          subjects: [{ kind: 'Group', name: 'team' }],
        },
      ],
    },
  },
};

describeControllers('reeve run --role reconciler --kubeconfig', () => {
  const cluster = sharedCluster();
  const { kubeconfig } = cluster;

  beforeAll(async () => {
    await keptReeve()?.stop();
    await installReeve(cluster);
    // Configurations that earlier tests left behind point to servers that have ended.
    await removeWebhooks(cluster);
  });
  afterAll(async () => {
    const leftovers = ['ns/outside-one', 'nspol/outside-teams'];
    await mustKubectl(['delete', ...leftovers, '--ignore-not-found', '--wait=false'], cluster);
  });

  test('reeve run --role reconciler --kubeconfig provides and deletes contents, and registers no webhook', async () => {
    const reeve = await startReeve(cluster, { role: 'reconciler' });
    onTestFinished(() => reeve[Symbol.asyncDispose]());
    await mustKubectl(['create', 'namespace', 'outside-one'], cluster);
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input: JSON.stringify(policy) });
    const get = ['get', 'rolebinding', 'team', '-n', 'outside-one', '-o', 'name', '--ignore-not-found'];
    const found = async () => (await kubectl(get, cluster)).stdout;
    await eventually(found).toBe('rolebinding.rbac.authorization.k8s.io/team\n');
    // The administrator may not write the object: the guard lets only the reconciler's account write it.
    const touched = await kubectl(
      ['label', 'rolebinding', 'team', '-n', 'outside-one', 'touched=yes'],
      cluster,
    );
    expect(touched.stderr).toContain(guardSays);
    const hooks = await kubectl(['get', 'validatingwebhookconfiguration', 'reeve'], cluster);
    expect(hooks.stderr).toContain('not found');
    // The reconciler deletes what the policy provided before the policy itself is deleted.
    await mustKubectl(['delete', 'nspol/outside-teams'], cluster);
    expect(await found()).toBe('');
    expect((await reeve.stop()).code).toBe(0);
  });
});
