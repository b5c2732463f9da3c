// The recipes are true in the sandbox: their commands run as written and print the output shown.
import { afterAll, beforeAll, describe } from 'vitest';
import { recipesByFlags, testRecipe } from '../support/recipes.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { until } from '../support/until.ts';

describe.each(recipesByFlags)('in the sandbox of npm start %s', (flags, recipes) => {
  let up: ReeveProcess | undefined;
  let kubeconfig = '';

  beforeAll(async () => {
    const started = new ReeveProcess(['up', ...flags.split(' ').filter((flag) => flag !== '')]);
    up = started;
    await until(
      async () => await Promise.resolve(started.stdout.includes('In force:')),
      () => `the sandbox runs: ${started.stderr}`,
    );
    kubeconfig = /export KUBECONFIG=(\S+)/.exec(started.stdout)?.[1] ?? '';
  });
  afterAll(async () => await up?.[Symbol.asyncDispose]());

  describe.each(recipes)('the commands of docs/recipes/$name print what is shown', (recipe) => {
    testRecipe(recipe, () => kubeconfig);
  });
});
