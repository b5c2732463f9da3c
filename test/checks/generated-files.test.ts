// The check of generated files notices each way in which they can differ from the definitions in the code.
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf } from '../support/serve-process.ts';
import { generatedFiles, staleGeneratedFiles } from './generated-files.ts';
import { metricGroups } from './reference/metrics-page.ts';

const files = Object.fromEntries(generatedFiles().map(({ path, text }) => [path, text]));
const [path = ''] = Object.keys(files);

test('files as they would be generated are not stale', async () => {
  await using folder = await folderOf(files);
  expect(await staleGeneratedFiles(folder.path)).toEqual([]);
});

test('a file with another text is stale', async () => {
  await using folder = await folderOf(files);
  await writeFile(join(folder.path, path), 'kind: CustomResourceDefinition\n');
  expect(await staleGeneratedFiles(folder.path)).toEqual([path]);
});

test('missing files are stale', async () => {
  await using folder = await folderOf({});
  expect(await staleGeneratedFiles(folder.path)).toEqual(Object.keys(files));
});

test.for(['manifests/crds/reeve.dev_old.yaml', 'docs/reference/old.md'])(
  '%s, which nothing generates, is stale',
  async (extra) => {
    await using folder = await folderOf({ ...files, [extra]: 'old\n' });
    expect(await staleGeneratedFiles(folder.path)).toEqual([extra]);
  },
);

test('the page of metrics has every metric of src', () => {
  const source = globSync('src/**/*.ts')
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const inSource = new Set([...source.matchAll(/'(reeve_\w+)'/g)].map(([, name]) => name));
  const onPage = metricGroups().flatMap(([, definitions]) => definitions.map(({ name }) => name));
  expect(new Set(onPage)).toEqual(inSource);
});
