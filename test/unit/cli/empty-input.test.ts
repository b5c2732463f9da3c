// What commands that read files say of files without an object.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../e2e/support/command.ts';

const state = 'test/fixtures/plan/quiet.yaml';
const commands = [
  ['plan', '--state', state, '-f'],
  ['plan', '-f', state, '--state'],
  ['check', '-f'],
  ['report', '-f'],
  ['explain', 'ns/a', '-f'],
  ['import', 'capsule', '-f'],
  ['adopt', '--dry-run', '-f'],
  ['adopt', '--policy', 'a', '--dry-run', '-f'],
];

describe.each([
  ['an empty file', 'empty.yaml'],
  ['an empty list', 'list.json'],
  ['an empty folder', 'folder'],
  ['a file for kustomize alone', 'kustomization.yaml'],
])('%s', (_title, name) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-empty-'));
    await mkdir(join(folder, 'folder'));
    await writeFile(join(folder, 'empty.yaml'), '');
    await writeFile(join(folder, 'list.json'), '{"apiVersion":"v1","kind":"List","items":[]}');
    await writeFile(
      join(folder, 'kustomization.yaml'),
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n',
    );
  });
  afterAll(() => rm(folder, { recursive: true }));

  const named = commands.map((args) => ({ args, title: args.join(' ') }));
  test.each(named)('reeve $title PATH exits with 3', async ({ args }) => {
    const path = join(folder, name);
    const { code, stdout, stderr } = await runCommand([...args, path]);
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: '',
      stderr: `${path} cannot be read: there is no object in YAML or JSON\n`,
    });
  });

  test('reeve test PATH exits with 3', async () => {
    const { code, stdout } = await runCommand(['test', join(folder, name)]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  });
});
