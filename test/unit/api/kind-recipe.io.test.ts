// The recipe for a kind in CONTRIBUTING.md, followed in a copy of the tree: the compiler names every other place that needs the kind.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

const kind = `// Defines the kind ConfigMapShare.
import { specification } from '../schema/schema.ts';
import { defineKind } from './kind.ts';
import { providerFields, sharedColumns } from './provider-fields.ts';

export const configMapShare = defineKind({
  kind: 'ConfigMapShare',
  plural: 'configmapshares',
  shortName: 'cmshare',
  word: 'map-share',
  scope: 'Cluster',
  copies: { apiVersion: 'v1', kind: 'ConfigMap' },
  description: 'Keeps copies of a ConfigMap.',
  spec: specification({
    description: 'What is copied.',
    fields: providerFields({ provider: 'share', provided: 'copies', whileSuspended: '.' }),
  }),
  columns: [sharedColumns.age],
});
`;

test('the compiler names the places that a kind in one file and in one line of the list needs', () => {
  const copy = mkdtempSync(join(tmpdir(), 'reeve-recipe-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const each of ['src', 'package.json', 'tsconfig.json'])
    cpSync(join(root, each), join(copy, each), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'src/api/config-map-share.ts'), kind);
  const list = join(copy, 'src/api/kinds.ts');
  const lines = readFileSync(list, 'utf8')
    .replace('import type { KindDefinition }', "import { configMapShare } from './config-map-share.ts';\n$&")
    .replace('  [secretShare.kind]: secretShare,\n', '$&  [configMapShare.kind]: configMapShare,\n');
  writeFileSync(list, lines);

  const tsc = join(root, 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(tsc, ['--noEmit', '--pretty', 'false'], { cwd: copy, encoding: 'utf8' });
  const files = [...stdout.matchAll(/^(\S+\.ts)\(\d+,\d+\): error/gm)].map(([, file = '']) => file);
  expect([...new Set(files)].sort()).toEqual([
    'src/app/object-readers.ts',
    'src/policy/compile/load-provider.ts',
    'src/policy/plan/desired-object.ts',
    'src/state/live-cluster.ts',
  ]);

  const printed =
    "import('./src/api/kinds.ts').then(({ crdOf, kinds }) => console.log(JSON.stringify(crdOf(kinds.ConfigMapShare))))";
  const crd = spawnSync(process.execPath, ['-e', printed], { cwd: copy, encoding: 'utf8' });
  expect(crd.stdout).toContain('Keeps copies of a ConfigMap.');
});
