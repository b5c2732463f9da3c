// The image itself: its files, size, labels and user, the same bytes twice, and that it starts without any privilege.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { elfNeeds } from '../../build/elf.ts';
import { eventually } from '../support/eventually.ts';
import { readImage, type ReadImage } from './archive.ts';
import { builtImage, version } from './build-image.ts';
import { Container } from './container.ts';

const { archive } = inject('image');
const { skipIf } = describe;
const describeImage = skipIf(archive === undefined);

let folder = '';
let image: ReadImage;
let container: Container;

beforeAll(() => {
  if (archive === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'reeve-image-'));
  image = readImage(archive, folder);
  container = new Container(image, join(folder, 'containers'));
});

afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true });
});

const isFile = ({ mode }: { readonly mode: string }): boolean => !mode.startsWith('d');
const read = (path: string): string => readFileSync(join(image.root, path), 'utf8');

describeImage('the files of the image', () => {
  test('the image contains Node, its libraries, the program, licenses, and nothing else', () => {
    const expected = [
      /^etc\/(?:passwd|nsswitch\.conf)$/,
      /^usr\/local\/bin\/node$/,
      /^lib(?:64)?\/ld-linux-[\w-]+\.so\.\d$/,
      /^usr\/lib\/[\w-]+-linux-gnu\/lib(?:c|m|dl|pthread|gcc_s|stdc\+\+|atomic)\.so\.\d$/,
      /^licenses\/[\w+-]+\/(?:LICENSE|copyright|THIRD-PARTY-LICENSES\.txt)$/,
      /^reeve\/(?:package\.json|sbom\.cdx\.json)$/,
      /^reeve\/dist\/bin\/[\w-]+\.cjs$/,
      /^reeve\/dist\/compiled\/v[\w.-]+-65532\/[0-9a-f]{8}$/,
      /^reeve\/manifests\/(?!samples|chart)[\w-]+\/[\w./-]+\.(?:yaml|md)$/,
    ];
    const files = image.entries.filter(isFile).map(({ path }) => path);
    expect(files.filter((path) => !expected.some((pattern) => pattern.test(path)))).toEqual([]);
    // Each pattern has a file, so that the list does not outlive what it allows.
    expect(expected.filter((pattern) => !files.some((path) => pattern.test(path)))).toEqual([]);
  });

  test('only Node and its libraries can be executed, and no file runs with the rights of its owner', () => {
    const executable = image.entries.filter((entry) => isFile(entry) && entry.mode.includes('x'));
    expect(executable.filter(({ path }) => !/^(?:usr|lib(?:64)?)\//.test(path))).toEqual([]);
    expect(image.entries.filter(({ mode }) => /[sStT]/.test(mode))).toEqual([]);
    expect(image.entries.filter(({ mode }) => !/^(?:drwxr-xr-x|-rwxr-xr-x|-rw-r--r--)$/.test(mode))).toEqual(
      [],
    );
    expect(image.entries.filter(({ owner }) => owner !== '0/0')).toEqual([]);
  });

  test('each library in the image is needed, and each needed library is in the image', () => {
    const binaries = image.entries.filter(({ path }) =>
      /^(?:usr\/local\/bin|usr\/lib|lib(?:64)?)\/.*[^/]$/.test(path),
    );
    const files = binaries.filter(isFile).map(({ path }) => path);
    const needed = files.flatMap((path) => elfNeeds(readFileSync(join(image.root, path))).libraries);
    const libraries = files.filter((path) => path.includes('.so.')).map((path) => path.split('/').at(-1));
    expect(new Set(libraries)).toEqual(new Set(needed));
  });

  test('the compressed image is smaller than 60 MB', () => {
    expect(image.layerBytes).toBeLessThan(60_000_000);
  });
});

describeImage('what the image says of itself', () => {
  test('the labels name the title, the license and the version of package.json', () => {
    const { Labels } = image.config.config;
    expect(Labels).toMatchObject({
      'org.opencontainers.image.title': 'Reeve',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': version(),
      'org.opencontainers.image.source': '',
      'org.opencontainers.image.revision': '',
    });
    expect(image.name).toBe(`docker.io/library/reeve:${version()}`);
  });

  test('the image runs as a numeric user that is not root', () => {
    expect(image.config.config.User).toBe('65532:65532');
    expect(read('etc/passwd')).toMatch(/^reeve:x:65532:65532:/);
  });

  test('the list of packages names what is in the bundle, Node, and the libraries of Debian', () => {
    const { components } = JSON.parse(read('reeve/sbom.cdx.json')) as {
      readonly components: readonly {
        readonly name: string;
        readonly version: string;
        readonly purl: string;
      }[];
    };
    const licensed = [
      ...read('licenses/reeve/THIRD-PARTY-LICENSES.txt').matchAll(
        /^-{80}\n\n(?<name>\S+) (?<version>\S+) \(/gmu,
      ),
    ];
    const ofNpm = components.filter(({ purl }) => purl.startsWith('pkg:npm/'));
    expect(new Set(ofNpm.map(({ name, version: each }) => `${name} ${each}`))).toEqual(
      new Set(licensed.map(({ groups }) => `${groups?.['name']} ${groups?.['version']}`)),
    );
    const others = components.filter(({ purl }) => !purl.startsWith('pkg:npm/')).map(({ name }) => name);
    expect(others.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['libc6', 'libgcc-s1', 'libstdc++6', 'node']);
    for (const name of others) expect(image.entries.map(({ path }) => path)).toContain(`licenses/${name}/`);
  });

  test('a build without the cache gives the same bytes', { timeout: 600_000 }, () => {
    const again = builtImage({ say: () => undefined, again: true });
    const other = mkdtempSync(join(tmpdir(), 'reeve-image-'));
    onTestFinished(() => {
      rmSync(other, { recursive: true });
      rmSync(again);
    });
    expect(readImage(again, other).digest).toBe(image.digest);
  });
});

describeImage('the running image', () => {
  test('each command explains itself', () => {
    for (const command of ['run', 'serve', 'certs', 'check', 'uninstall'])
      expect(container.run([command, '--help']), command).toMatchObject({ status: 0, stderr: '' });
  });

  test('V8 accepts the compile cache of each file that a command loads', () => {
    // https://github.com/nodejs/node/blob/main/src/compile_cache.cc
    // Without a cluster, the command ends after it has loaded what both roles share (bundle.io.test.ts loads the roles).
    const { stderr } = container.run(['run'], ['NODE_DEBUG_NATIVE=COMPILE_CACHE']);
    const attempts = stderr.match(/reading cache from .*/g) ?? [];
    expect(attempts.length).toBeGreaterThan(20);
    expect(stderr.match(/V8 code cache for CommonJS \S+ was accepted/g)).toHaveLength(attempts.length);
  });

  test('reeve up says in one sentence that the image does not have it', () => {
    const { status, stderr } = container.run(['up']);
    expect(stderr).toContain('reeve up is not part of this image');
    expect(status).toBe(3);
  });

  test('no shell and no package manager starts', () => {
    for (const program of ['/bin/sh', '/bin/bash', '/usr/bin/env', 'npm', 'npx', 'apt']) {
      const { status, stderr } = container.runProgram([program]);
      expect(stderr, program).toMatch(/no such file|not found/);
      expect(status).toBe(1);
    }
  });

  test('reeve serve answers its probes with a read-only root and without capabilities, and opens no debugger', async () => {
    const policies = join(folder, 'policies');
    mkdirSync(policies);
    writeFileSync(join(policies, 'none.yaml'), '');
    const settings = ['--policies', '/policies', '--port', '0', '--probes-port', '0', '--drain-grace', '0s'];
    const server = container.start(['serve', '--host', '127.0.0.1', ...settings], { '/policies': policies });
    onTestFinished(() => void server.kill('SIGKILL'));
    let output = '';
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (part) => (output += String(part)));
    await eventually(() => output).toMatch(/probes on http:\/\/127\.0\.0\.1:\d+/);
    // Node starts its debugger at this signal: https://nodejs.org/api/cli.html#--disable-sigusr1
    server.kill('SIGUSR1');
    const [, url = ''] = /probes on (http:\/\/127\.0\.0\.1:\d+)/.exec(output) ?? [];
    for (const path of ['livez', 'readyz', 'metrics'])
      expect((await fetch(`${url}/${path}`)).status, path).toBe(200);
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(output).not.toContain('Debugger');
  });
});
