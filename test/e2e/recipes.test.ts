// The recipes are true on a Kubernetes API server: their commands run as written and print the output shown.
import { afterAll, beforeAll, describe } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { recipesByFlags, testRecipe } from '../support/recipes.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';

describeControllers('on a cluster with Reeve', () => {
  const cluster = sharedCluster();

  /** Also what an earlier file or a failed step has left: warnings name every namespace that a policy matches. */
  const deleteAll = async (): Promise<void> => {
    await mustKubectl(['delete', 'namespacepolicies,secretshares', '--all', '--timeout=60s'], cluster);
    const names = await mustKubectl(['get', 'namespaces', '-o', 'name'], cluster);
    const ours = names.split('\n').filter((name) => !/^(namespace\/(default|kube-.*|reeve-.*))?$/.test(name));
    if (ours.length > 0) await mustKubectl(['delete', ...ours, '--timeout=60s'], cluster);
    await mustKubectl(['delete', 'secrets', '--all', '-n', 'reeve-shared'], cluster);
  };

  describe.each(recipesByFlags)('with the flags "%s"', (flags, recipes) => {
    let reeve: Reeve;

    beforeAll(async () => {
      await installReeve(cluster);
      reeve = await startReeve(cluster, { args: flags.split(' ').filter((flag) => flag !== '') });
      await deleteAll();
    });
    afterAll(async () => {
      await deleteAll();
      await reeve.stop();
      // A recipe may change the install.
      await installReeve(cluster);
    });

    describe.each(recipes)('the commands of docs/recipes/$name print what is shown', (recipe) => {
      testRecipe(recipe, () => cluster.kubeconfig);
    });
  });
});
