// The program of the image: the compiled tree, without what the Dockerfile deletes, starts each command but `reeve up`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';

const root = resolve(import.meta.dirname, '../..');
const [, deleted = ''] =
  /^RUN rm -r ((?:dist\/\S+ ?)+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
let image = '';

beforeAll(() => {
  image = mkdtempSync(join(tmpdir(), 'reeve-image-'));
  const build = ['-p', 'tsconfig.build.json', '--outDir', join(image, 'dist')];
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), build, {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the build failed: ${stdout}`);
  for (const path of deleted.split(' ')) rmSync(join(image, path), { recursive: true });
  cpSync(join(root, 'package.json'), join(image, 'package.json'));
  cpSync(join(root, 'manifests/webhooks'), join(image, 'manifests/webhooks'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(image, 'node_modules'));
  writeFileSync(join(image, 'none.yaml'), '');
});

afterAll(() => rmSync(image, { recursive: true }));

const main = (): string => join(image, 'dist/main.js');

function reeve(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main(), ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('the image has no sandbox and no demo', () => {
  expect(deleted.split(' ')).toEqual(['dist/sandbox', 'dist/cli/demo', 'dist/cli/up.js']);
});

test('reeve run explains itself', () => {
  expect(reeve('run', '--help')).toMatchObject({ status: 0, stderr: '' });
});

test('reeve certs and reeve serve work', async () => {
  const certs = join(image, 'certs');
  expect(reeve('certs', '--out', certs)).toMatchObject({ status: 0 });
  const policies = ['--policies', join(image, 'none.yaml')];
  const flags = ['--port', '0', '--probes-port', '0', '--drain-grace', '0s', '--certs-dir', certs];
  const server = spawn(process.execPath, [main(), 'serve', ...policies, ...flags]);
  onTestFinished(() => void server.kill('SIGKILL'));
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (part) => (output += String(part)));
  await eventually(() => output).toContain('0 policies loaded');
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('reeve up says in one sentence that the image does not have it', () => {
  expect(reeve('up')).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'reeve up is not part of this image; run it from the npm package or from a clone of the repository\n',
  });
});

test('reeve run loads its program', () => {
  const { status, stderr } = reeve('run', '--kubeconfig', join(image, 'nowhere'));
  expect(status).toBe(1);
  expect(stderr).toContain('nowhere');
});
