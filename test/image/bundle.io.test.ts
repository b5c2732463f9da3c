// The bundled program: what is in it, what each command loads, and that it works with the flags of the image.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { OutputChunk } from 'rolldown';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundleProgram, licensesFile } from '../../build/bundle.ts';
import { cacheFolder, compileCacheVariables, writeCompileCache } from '../../build/compile-cache.ts';
import { eventually } from '../support/eventually.ts';
import { imageNodeFlags } from './node-flags.ts';

const root = resolve(import.meta.dirname, '../..');
const flags = imageNodeFlags();

interface Bundled {
  /** The root of a package: the bundle, package.json and the manifests. */
  readonly folder: string;
  readonly files: readonly OutputChunk[];
}

async function bundled(forImage: boolean): Promise<Bundled> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bundle-'));
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  cpSync(join(root, 'manifests'), join(folder, 'manifests'), { recursive: true });
  writeFileSync(join(folder, 'none.yaml'), '');
  return { folder, files: await bundleProgram({ out: join(folder, 'dist'), forImage }) };
}

let image: Bundled;
let npmPackage: Bundled;

beforeAll(async () => {
  image = await bundled(true);
  npmPackage = await bundled(false);
});

afterAll(() => {
  for (const { folder } of [image, npmPackage]) rmSync(folder, { recursive: true });
});

const main = (from: Bundled): string => join(from.folder, 'dist/bin/main.cjs');

function reeve(from: Bundled, ...args: readonly string[]) {
  const options = { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: from.folder } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, main(from), ...args], options);
  return { status, stdout, stderr };
}

/** Starts `reeve serve` with the certificates in the folder. */
function served({ folder, files }: Bundled, ...more: readonly string[]) {
  const paths = ['--policies', join(folder, 'none.yaml'), '--certs-dir', join(folder, 'certs')];
  const settings = ['--port', '0', '--probes-port', '0', '--drain-grace', '0s', ...more];
  const command = [...flags, main({ folder, files }), 'serve', ...paths, ...settings];
  const server = spawn(process.execPath, command);
  const running = {
    process: server,
    output: '',
    [Symbol.asyncDispose]: async () => {
      if (server.exitCode !== null) return;
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
  };
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (part) => (running.output += String(part)));
  return running;
}

/** The modules of a file and of all files that it imports at once, from the root of the repository. */
function loadedWith(name: string, { files }: Bundled): readonly string[] {
  const names = new Set([name]);
  // The loop also visits the names that it adds.
  for (const each of names) for (const next of fileCalled(each, files)?.imports ?? []) names.add(next);
  const modules = [...names].flatMap((each) => Object.keys(fileCalled(each, files)?.modules ?? {}));
  return modules.map((id) => id.replace(`${root}/`, ''));
}

function fileCalled(name: string, files: readonly OutputChunk[]): OutputChunk | undefined {
  return files.find(({ fileName }) => fileName === name);
}

/** A module whose code is not used has no bytes in the bundle. */
function renderedIn(modules: OutputChunk['modules']): readonly string[] {
  const entries = Object.entries(modules);
  return entries.filter(([, { renderedLength }]) => renderedLength > 0).map(([id]) => id);
}

function roomsIn(modules: readonly string[]): readonly string[] {
  return [...new Set(modules.map((id) => id.split('/').slice(0, 2).join('/')))];
}

const packagePath = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

test('the image has no sandbox and no demo, and the npm package has both', () => {
  const isSandbox = (id: string): boolean =>
    /src\/(?:sandbox|cli\/demo)\/|src\/(?:cli|app)\/up\.ts$/.test(id);
  const modules = (from: Bundled) => from.files.flatMap(({ modules: parts }) => renderedIn(parts));
  expect(modules(image).filter(isSandbox)).toEqual([]);
  expect(modules(npmPackage).filter(isSandbox).length).toBeGreaterThan(20);
});

test('each role loads only its own code', () => {
  const reconciler = loadedWith('reconciler-role.cjs', image);
  const webhook = loadedWith('webhook-role.cjs', image);
  expect(roomsIn(reconciler)).toContain('src/reconcile');
  expect(roomsIn(reconciler)).not.toContain('src/admission');
  expect(roomsIn(webhook)).toContain('src/admission');
  expect(roomsIn(webhook)).not.toContain('src/reconcile');
  expect(webhook.join(' ')).not.toMatch(/node_modules\/(?:node-forge|@kubernetes)\//);
  expect(reconciler.join(' ')).not.toMatch(/node_modules\/(?:express|node-forge|@kubernetes)\//);
});

test('the webhook loads the router of express alone', () => {
  const packages = loadedWith('webhook-role.cjs', image).join(' ');
  expect(packages).toMatch(/node_modules\/router\//);
  expect(packages).not.toMatch(/node_modules\/(?:body-parser|send|qs)\//);
});

test('without --trace-endpoint, no code for traces is loaded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-untraced-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(image.folder, folder, { recursive: true });
  const ofTraces = image.files.filter(({ modules }) =>
    Object.keys(modules).some((id) => id.endsWith('/tracer.ts')),
  );
  expect(ofTraces).toHaveLength(1);
  for (const { fileName } of ofTraces) rmSync(join(folder, 'dist/bin', fileName));
  const untraced = { folder, files: image.files };
  expect(reeve(untraced, 'certs', '--out', join(folder, 'certs'))).toMatchObject({ status: 0 });
  await using server = served(untraced);
  await eventually(() => server.output).toContain('0 policies loaded');
  await using traced = served(untraced, '--trace-endpoint=http://127.0.0.1:1');
  await eventually(() => traced.output).toContain('reeve exits after an internal error');
});

test('a help text is printed without loading a library', () => {
  expect(loadedWith('main.cjs', image).filter((id) => packagePath.test(id))).toEqual([]);
});

test.each(['check.cjs', 'explain.cjs', 'plan.cjs', 'report.cjs', 'import.cjs', 'test.cjs'])(
  '%s loads neither the cluster client nor what only servers need',
  (file) => {
    const loaded = loadedWith(file, image);
    expect(roomsIn(loaded)).toContain('src/inspect');
    expect(loaded.filter((id) => /^src\/(?:kube|certs|observe|sandbox|registration|app)\//.test(id))).toEqual(
      [],
    );
    const packages = new Set(
      loaded.flatMap((id) => packagePath.exec(id)?.[0].replace(/.*node_modules\//, '') ?? []),
    );
    expect([...packages].sort()).toEqual(['re2js', 'yaml']);
  },
);

test('reeve check reads files, with the file of the cluster client removed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(image.folder, folder, { recursive: true });
  const needed = new Set(['main.cjs', 'check.cjs']);
  for (const each of needed)
    for (const next of fileCalled(each, image.files)?.imports ?? []) needed.add(next);
  for (const { fileName } of image.files)
    if (!needed.has(fileName)) rmSync(join(folder, 'dist/bin', fileName));
  const samples = join(folder, 'manifests/samples/policies');
  const { status, stdout, stderr } = reeve({ folder, files: image.files }, 'check', '-f', samples);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/documents: /);
});

test('the licenses name exactly the packages whose code is in the bundle, and give their texts', () => {
  for (const { folder, files } of [image, npmPackage]) {
    const used = files.flatMap(({ modules: parts }) => renderedIn(parts));
    const packages = new Set(used.flatMap((id) => packagePath.exec(id)?.slice(0, 1) ?? []));
    const expected = [...packages].map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
        readonly name: string;
        readonly version: string;
      };
      return `${name} ${version}`;
    });
    const sections = readFileSync(join(folder, 'dist', licensesFile), 'utf8').split(
      `\n${'-'.repeat(80)}\n\n`,
    );
    const named = sections
      .slice(1)
      .map((section) => /^(?<title>\S+ \S+) \(/.exec(section)?.groups?.['title']);
    expect(new Set(named)).toEqual(new Set(expected));
    const withoutText = sections.slice(1).filter((section) => section.trim().split('\n').length < 5);
    // It ships no file with its license, which is a dedication to the public domain.
    expect(withoutText.map((section) => section.trim())).toEqual(['stream-buffers 3.0.3 (Unlicense)']);
  }
});

test('the same source gives the same bytes', async () => {
  const again = await bundled(true);
  onTestFinished(() => rmSync(again.folder, { recursive: true }));
  expect(again.files.map(({ fileName, code }) => [fileName, code])).toEqual(
    image.files.map(({ fileName, code }) => [fileName, code]),
  );
});

test('the same bundle gives the same compile cache', () => {
  const cached = () => {
    writeCompileCache(join(image.folder, 'dist'), flags, 0);
    const cache = join(image.folder, 'dist', cacheFolder);
    const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    return files.map(({ parentPath, name }) => [
      name,
      readFileSync(join(parentPath, name)).toString('base64'),
    ]);
  };
  const first = cached();
  expect(first.length).toBeGreaterThan(20);
  expect(cached()).toEqual(first);
});

test('a process that reads the compile cache has a hash seed of its own', () => {
  writeCompileCache(join(image.folder, 'dist'), flags, process.getuid?.() ?? 0);
  // V8 writes the hashes of names into what it compiles.
  const script = 'function named(first, second) { return { first, second }; }';
  const code = `new (require('node:vm').Script)(${JSON.stringify(script)}).createCachedData().toString('base64')`;
  const hashed = (...more: readonly string[]): string =>
    spawnSync(process.execPath, [...flags, ...more, '-p', `require(process.argv[1]); ${code}`, main(image)], {
      encoding: 'utf8',
      env: { ...compileCacheVariables(join(image.folder, 'dist')), NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    }).stdout;
  expect(hashed()).not.toEqual(hashed());
});

test('each command of the bundle explains itself', () => {
  for (const command of [
    'run',
    'serve',
    'certs',
    'check',
    'explain',
    'report',
    'import',
    'uninstall',
    'up',
  ]) {
    expect(reeve(image, command, '--help'), command).toMatchObject({ status: 0, stderr: '' });
  }
});

test('reeve certs and reeve serve work', async () => {
  const certs = join(image.folder, 'certs');
  expect(reeve(image, 'certs', '--out', certs)).toMatchObject({ status: 0 });
  await using server = served(image);
  await eventually(() => server.output).toContain('0 policies loaded');
  const ended = once(server.process, 'exit');
  server.process.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('reeve up says in one sentence that the image does not have it', () => {
  expect(reeve(image, 'up')).toEqual({
    status: 3,
    stdout: '',
    stderr:
      'reeve up is not part of this image; run it from the npm package or from a clone of the repository\n',
  });
});

test('reeve up plays its demo from the npm package', () => {
  const { status, stdout } = reeve(npmPackage, 'up', '--demo', '--json');
  expect(stdout.trim().split('\n').at(-1)).toContain('"');
  expect(status).toBe(0);
});

test('reeve check finds that Reeve works on the sandbox', async () => {
  const up = spawn(process.execPath, [...flags, main(npmPackage), 'up', '--json', '--quiet']);
  onTestFinished(() => void up.kill('SIGKILL'));
  let output = '';
  up.stdout.on('data', (part) => (output += String(part)));
  await eventually(() => output).toContain('"kubeconfig"');
  const [, kubeconfig = ''] = /"kubeconfig":"([^"]+)"/.exec(output) ?? [];
  const { status, stdout } = reeve(image, 'check', '--kubeconfig', kubeconfig, '--wait', '30s');
  expect(stdout).toContain('ok: webhook\n');
  // It runs no Pods.
  expect(stdout.split('\n').filter((line) => line.startsWith('unseen: '))).toEqual([
    'unseen: Deployments: the API server answered 501 (NotImplemented)',
    'unseen: Pods: the API server answered 501 (NotImplemented)',
  ]);
  expect(status).toBe(0);
  const bad = join(image.folder, 'bad.yaml');
  const meta = { name: 'lost' };
  const spec = { match: { names: ['nowhere'] } };
  writeFileSync(
    bad,
    JSON.stringify({ apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: meta, spec }),
  );
  const onFiles = reeve(image, 'check', '-f', bad, '--kubeconfig', kubeconfig);
  expect(onFiles.stderr).toBe('');
  expect(onFiles.stdout).toContain(
    'warning: policy lost: no namespace matches now, because there is no namespace nowhere',
  );
  const noContext = reeve(image, 'check', '-f', bad, '--kubeconfig', kubeconfig, '--context', 'other');
  expect(noContext).toMatchObject({ status: 3, stdout: '' });
  expect(noContext.stderr).toContain('context "other" is missing');
});

/** The path of a kubeconfig for a server that refuses every connection. */
function writtenKubeconfig(): string {
  const kubeconfig = join(image.folder, 'kubeconfig');
  const clusters = [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }];
  const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }];
  const users = [{ name: 'u', user: { token: 'none' } }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters, contexts, users, 'current-context': 'c' }));
  return kubeconfig;
}

test('a kubeconfig is read by the bundled library', () => {
  const { status, stderr } = reeve(image, 'uninstall', '--kubeconfig', writtenKubeconfig(), '--yes');
  expect(stderr).toContain('ECONNREFUSED');
  expect(status).toBe(3);
});

test('V8 accepts the compile cache of each file that both roles load, but for the library that no Pod needs', async () => {
  const dist = join(image.folder, 'dist');
  writeCompileCache(dist, flags, process.getuid?.() ?? 0);
  const command = [...flags, main(image), 'run', '--kubeconfig', writtenKubeconfig()];
  const env = { ...compileCacheVariables(dist), NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
  const running = spawn(process.execPath, command, { env });
  onTestFinished(() => void running.kill('SIGKILL'));
  let output = '';
  for (const part of [running.stdout, running.stderr]) part.on('data', (text) => (output += String(text)));
  // Both roles have begun.
  await eventually(() => output).toContain('certificate authority not checked');
  await eventually(() => output).toContain('lease not renewed');
  const filesIn = (pattern: RegExp): readonly string[] =>
    [...output.matchAll(pattern)].map(([, path = '']) => path.split('/').at(-1) ?? '');
  const loaded = filesIn(/reading cache from .* for CommonJS (\S+?)\.\.\./g);
  const accepted = new Set(filesIn(/V8 code cache for CommonJS (\S+) was accepted/g));
  expect(loaded).toEqual(expect.arrayContaining(['webhook-role.cjs', 'reconciler-role.cjs']));
  const packages = loaded
    .filter((name) => !accepted.has(name))
    .flatMap((name) => Object.keys(fileCalled(name, image.files)?.modules ?? {}))
    .map((id) => packagePath.exec(id)?.[0].split('node_modules/')[1]);
  expect(packages).toContain('@kubernetes/client-node');
  expect(accepted.size).toBe(loaded.length - 1);
});

test('reeve run names a kubeconfig that does not exist', () => {
  const { status, stderr } = reeve(image, 'run', '--kubeconfig', join(image.folder, 'nowhere'));
  expect(status).toBe(3);
  expect(stderr).toContain('nowhere');
});
