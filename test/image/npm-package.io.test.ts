// The npm package: what is in it, and that it works where nothing else is installed and no registry answers.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleProgram } from '../../build/bundle.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'reeve-package-'));
const [source, app] = [join(folder, 'source'), join(folder, 'app')];
const bin = join(app, 'node_modules', '.bin');

/** Without the caches and settings of the person who runs the tests. */
const env = {
  PATH: [bin, dirname(process.execPath), process.env['PATH']].join(':'),
  HOME: folder,
  npm_config_update_notifier: 'false',
};

function npm(cwd: string, ...args: readonly string[]): string {
  return execFileSync('npm', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function run(program: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: app, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

let files: readonly string[] = [];

beforeAll(async () => {
  mkdirSync(app, { recursive: true });
  for (const name of ['package.json', 'README.md', 'LICENSE', 'manifests', 'schemas'])
    cpSync(join(root, name), join(source, name), { recursive: true });
  await bundleProgram({ out: join(source, 'dist'), forImage: false });
  const [packed] = JSON.parse(npm(source, 'pack', '--json', '--ignore-scripts')) as readonly [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  files = packed.files.map(({ path }) => path);
  writeFileSync(join(app, 'package.json'), '{"private": true}');
  npm(app, 'install', '--offline', '--no-audit', '--no-fund', join(source, packed.filename));
});

afterAll(() => rmSync(folder, { recursive: true }));

test('the package holds the program, the schemas and the manifests that the program reads', async () => {
  const many = /^(dist\/bin|schemas)\/[\w-]+(\.cjs|\.json)$/;
  const shown = new Set(files.map((path) => path.replace(many, '$1/*$2')));
  await expect([...shown].sort().join('\n')).toMatchFileSnapshot('../fixtures/package/files.txt');
});

test('the list of packages says of each that the program requires it', () => {
  const path = join(app, 'node_modules/reeve/dist/sbom.cdx.json');
  const { components } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly components: readonly { readonly name: string; readonly scope: string }[];
  };
  expect(components.map(({ name }) => name)).toContain('yaml');
  expect(new Set(components.map(({ scope }) => scope))).toEqual(new Set(['required']));
  expect(JSON.stringify(components)).not.toContain('development');
});

test('nothing else is installed with the package', () => {
  expect(readdirSync(join(app, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['reeve']);
});

test('the installed package works with npx', () => {
  expect(run('npx', '--no-install', 'reeve', '--help').stdout).toContain('Usage: reeve COMMAND');
  const policies = join(app, 'node_modules/reeve/manifests/samples/first-steps');
  const checked = run('npx', '--no-install', 'reeve', 'check', '-f', policies);
  expect(checked).toMatchObject({ status: 0, stderr: '' });
});

test('the installed package is a plugin of kubectl, which kubectl completes', () => {
  expect(run('kubectl', 'reeve', '--help').stdout).toContain('Usage: kubectl reeve COMMAND');
  expect(run('kubectl', 'reeve', 'check', '--help').stdout).toContain('  kubectl reeve check -f policies/');
  expect(run('kubectl', '__complete', 'reeve', 'unin').stdout).toMatch(/^uninstall\t/);
});

test('the installed package plays the demo of the sandbox', () => {
  expect(run('reeve', 'up', '--demo', '--json')).toMatchObject({ status: 0 });
});

test('the installed package finds the manifests of an uninstall', () => {
  const closed = join(folder, 'kubeconfig');
  const clusters = [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }];
  const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }];
  const users = [{ name: 'u', user: { token: 'none' } }];
  writeFileSync(closed, JSON.stringify({ clusters, contexts, users, 'current-context': 'c' }));
  const { stderr } = run('reeve', 'uninstall', '--yes', '--kubeconfig', closed);
  expect(stderr).toContain('ECONNREFUSED');
});
