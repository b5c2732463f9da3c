// The check of generated files notices each way in which the folder can differ from the definitions.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedCrds } from '../../src/api/crd.ts';
import { folderOf } from '../support/serve-process.ts';
import { staleGeneratedFiles } from './generated-files.ts';

const files = Object.fromEntries(generatedCrds().map(({ path, text }) => [path, text]));
const [path = ''] = Object.keys(files);

test('files as they would be generated', async () => {
  await using folder = await folderOf(files);
  expect(await staleGeneratedFiles(folder.path)).toEqual([]);
});

test('a file with another text', async () => {
  await using folder = await folderOf(files);
  await writeFile(join(folder.path, path), 'kind: CustomResourceDefinition\n');
  expect(await staleGeneratedFiles(folder.path)).toEqual([path]);
});

test('no files', async () => {
  await using folder = await folderOf({});
  expect(await staleGeneratedFiles(folder.path)).toEqual(Object.keys(files));
});

test('a file that nothing generates', async () => {
  await using folder = await folderOf({ ...files, 'manifests/crds/reeve.dev_old.yaml': 'kind: Old\n' });
  expect(await staleGeneratedFiles(folder.path)).toEqual(['manifests/crds/reeve.dev_old.yaml']);
});
