// The recipes are true on a Kubernetes API server: their commands run as written and print the output shown.
import { afterAll, beforeAll, describe } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { recipesByFlags, testRecipe } from '../support/recipes.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';

describeControllers('on a cluster with Reeve', () => {
  describe.each(recipesByFlags)('with the flags "%s"', (flags, recipes) => {
    // Its own cluster: the output names every namespace that a policy matches, and a recipe may change the install.
    let cluster: ControlPlane;
    let reeve: Reeve;

    beforeAll(async () => {
      cluster = await startControlPlane({ audit: false });
      await installReeve(cluster);
      reeve = await startReeve(cluster, { args: flags.split(' ').filter((flag) => flag !== '') });
    });
    afterAll(async () => {
      await reeve.stop();
      await cluster.stop();
    });

    describe.each(recipes)('the commands of docs/recipes/$name print what is shown', (recipe) => {
      testRecipe(recipe, () => cluster.kubeconfig);
    });
  });
});
