// `reeve up --kubeconfig`: the reconciler of a cluster runs here, and its work is told as it happens.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { installReeve, removeWebhooks } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { guardSays } from './guard-scene.ts';

const policy = {
  apiVersion: 'reeve.dev/v1alpha1',
  kind: 'NamespacePolicy',
  metadata: { name: 'up-teams' },
  spec: {
    match: { names: ['up-*'] },
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

describeControllers('reeve up on a cluster', () => {
  const cluster = sharedCluster();
  const { kubeconfig } = cluster;

  beforeAll(async () => {
    await installReeve(cluster);
    // Those that earlier tests may have left lead to nobody.
    await removeWebhooks(cluster);
  });
  afterAll(async () => {
    await mustKubectl(
      ['delete', 'ns/up-one', 'nspol/up-teams', '--ignore-not-found', '--wait=false'],
      cluster,
    );
  });

  test('does the work, tells of it, and registers no webhook', async () => {
    const reeve = new ReeveProcess(['up', `--kubeconfig=${kubeconfig}`]);
    onTestFinished(() => reeve[Symbol.asyncDispose]());
    await eventually(() => reeve.stdout + reeve.stderr).toContain(
      `Reeve runs here for the cluster of ${kubeconfig}`,
    );
    await mustKubectl(['create', 'namespace', 'up-one'], cluster);
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input: JSON.stringify(policy) });
    await eventually(() => reeve.stdout).toMatch(
      /created +RoleBinding up-one\/team, for NamespacePolicy\/up-teams/,
    );
    const { stdout } = await kubectl(['get', 'rolebinding', 'team', '-n', 'up-one', '-o', 'name'], cluster);
    expect(stdout).toBe('rolebinding.rbac.authorization.k8s.io/team\n');
    // Whose kubeconfig it is may not: it is the reconciler's own account that has written it.
    const touched = await kubectl(['label', 'rolebinding', 'team', '-n', 'up-one', 'touched=yes'], cluster);
    expect(touched.stderr).toContain(guardSays);
    const hooks = await kubectl(['get', 'validatingwebhookconfiguration', 'reeve'], cluster);
    expect(hooks.stderr).toContain('not found');
    // While it runs, the policy goes with all that it provides.
    await mustKubectl(['delete', 'nspol/up-teams'], cluster);
    await eventually(() => reeve.stdout).toMatch(/deleted +RoleBinding up-one\/team/);
    reeve.kill('SIGINT');
    expect((await reeve.ended()).code).toBe(0);
  });
});
