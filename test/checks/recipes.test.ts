// Every recipe is complete: its sections, its place in the index, files that load, and an install that fits its policy.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadPolicyFiles } from '../../src/state/file-cluster.ts';
import { recipes, recipesFolder, recipeSteps } from '../support/recipes.ts';

const root = join(import.meta.dirname, '..', '..');
const index = readFileSync(join(recipesFolder, 'README.md'), 'utf8');

test('there are eighteen recipes', () => expect(recipes).toHaveLength(18));

describe.each(recipes)('the recipe $name', (recipe) => {
  const { name, page } = recipe;
  const files = readdirSync(join(recipesFolder, name)).filter((file) => file !== 'README.md');

  test('the index links to it', () => expect(index).toContain(`](${name}/README.md)`));

  test('it begins with the problem, and has every section', () => {
    expect(page).toMatch(/^# .+\n\n> /);
    const wanted = ['The policy', 'What users see', 'How to change it', 'What it does not do', 'Clean up'];
    const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(sections).toEqual(expect.arrayContaining(wanted));
  });

  test('every command is followed by its output', () =>
    expect(recipeSteps(recipe).length).toBeGreaterThan(3));

  test('the page names every file', () => {
    expect(files).not.toEqual([]);
    for (const file of files) expect(page).toContain(file);
  });

  test('its policies and shares load', async () => {
    const paths = files.map((file) => join(recipesFolder, name, file));
    const provided = paths.filter((path) => readFileSync(path, 'utf8').includes('apiVersion: reeve.dev/'));
    expect(provided).not.toEqual([]);
    for (const path of provided) expect((await loadPolicyFiles(path)).problems).toEqual([]);
  });
});

interface AllowedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
}

describe('the install of message-jobs', () => {
  const textOf = (file: string): string => readFileSync(join(recipesFolder, 'message-jobs', file), 'utf8');
  const kindsOf = (text: string): readonly AllowedKind[] =>
    (parse(text) as { readonly resourceKinds: readonly AllowedKind[] }).resourceKinds;
  const kinds = kindsOf(textOf('values.yaml'));

  test('the values of the chart allow Jobs beside the kinds of the default', () => {
    const usual = kindsOf(readFileSync(join(root, 'manifests/chart/values.yaml'), 'utf8'));
    expect(kinds).toEqual([...usual, { apiVersion: 'batch/v1', kind: 'Job', resource: 'jobs' }]);
  });

  test('the flags allow the kinds of the values of the chart, and the jail allows Jobs beside the shipped kinds', () => {
    const { flags } = recipes.find(({ name }) => name === 'message-jobs') ?? { flags: [] };
    expect(flags).toEqual(kinds.map(({ apiVersion, kind }) => `--resource-kind=${apiVersion}/${kind}`));
    const patch = JSON.parse(textOf('jail-patch.json')) as readonly { readonly value: string }[];
    const list = (text = ''): readonly string[] => JSON.parse(text) as string[];
    const jail = readFileSync(join(root, 'manifests/install/41-jail.yaml'), 'utf8');
    const shipped = /- name: providedResources\n +expression: '(.*)'/.exec(jail)?.[1];
    expect(list(patch[1]?.value)).toEqual([...list(shipped), 'batch/jobs']);
  });
});
