// The recipes of docs/recipes: finds them, and runs their commands in the order of the page.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { blocksOf } from '../samples/markdown.ts';
import { expectShown, type Step } from './document-steps.ts';

export const recipesFolder = join(import.meta.dirname, '..', '..', 'docs', 'recipes');

export interface Recipe {
  /** The name of its folder. */
  readonly name: string;
  readonly page: string;
  /** The flags that Reeve needs beyond its defaults. */
  readonly flags: readonly string[];
}

export const recipes: readonly Recipe[] = readdirSync(recipesFolder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => {
    const page = readFileSync(join(recipesFolder, name, 'README.md'), 'utf8');
    const flags = /^npm start -- (.+)$/m.exec(page)?.[1]?.split(' ') ?? [];
    return { name, page, flags };
  });

/** Each group needs a Reeve of its own. */
export const recipesByFlags: readonly (readonly [flags: string, readonly Recipe[]])[] = [
  ...Map.groupBy(recipes, ({ flags }) => flags.join(' ')),
];

/** Returns every block for the shell, except the start of the sandbox. Throws when a block is not followed by its output. */
export function recipeSteps({ name, page }: Recipe): readonly Step[] {
  const blocks = blocksOf(page);
  return blocks.flatMap(({ language, text }, index) => {
    if (language !== 'sh' || text.startsWith('npm start')) return [];
    const output = blocks[index + 1];
    if (output?.language !== 'text') throw new Error(`${name}: no output is shown for ${text}`);
    return [{ command: text.trimEnd(), shown: output.text }];
  });
}

/** Defines a test for each step. The steps of a recipe build on each other. */
export function testRecipe(recipe: Recipe, kubeconfig: () => string): void {
  test.each(recipeSteps(recipe))('$command', async (step) => {
    await expectShown(step, kubeconfig());
  });
}
