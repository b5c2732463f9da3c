// `reeve up` as people run it: what it prints, that this is true, how it ends, and that it leaves nothing behind.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { scenes } from '../../src/cli/demo/scenes.ts';
import { eventually } from '../support/eventually.ts';
import { folderOf, ReeveProcess } from '../support/serve-process.ts';
import { copyProject } from './project-copy.ts';

const root = join(import.meta.dirname, '../..');

/** A killed process cannot tidy up. */
let temporary = '';
beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'reeve-up-'));
});
afterAll(() => rmSync(temporary, { recursive: true }));

function up(args: readonly string[]): ReeveProcess {
  const started = new ReeveProcess(['up', ...args], { TMPDIR: temporary });
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

interface Ready {
  readonly type: string;
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly url: string;
  readonly webhookUrl: string;
  readonly inForce: readonly { readonly kind: string; readonly name: string; readonly reach: string }[];
}

async function ready(reeve: ReeveProcess): Promise<Ready> {
  await eventually(() => reeve.stdout + reeve.stderr).toContain('\n');
  return JSON.parse(reeve.stdout.split('\n')[0] ?? '') as Ready;
}

describe('the tour', () => {
  let copy = '';
  beforeAll(() => {
    copy = copyProject(root);
  });
  afterAll(() => {
    if (copy !== '') rmSync(copy, { recursive: true });
  });

  test('npm start -- --demo --step waits for a line before each scene, and each goes as described', () => {
    const options = { cwd: copy, encoding: 'utf8', input: '\n' } as const;
    const { stdout, status } = spawnSync('npm', ['start', '--', '--demo', '--step'], options);
    // Once the input has ended, there is nothing to wait for.
    expect(stdout.match(/Press Enter for the next scene\./g)).toHaveLength(scenes.length - 1);
    expect(stdout).toContain(`${scenes.length} of ${scenes.length} scenes went as described.`);
    expect(status).toBe(0);
    for (const { story, promise } of scenes) {
      expect(stdout).toContain(story);
      expect(stdout).toContain(`✔ ${promise}`);
    }
    // The feed stands between the texts of the tour, without colors where the output is no terminal.
    expect(stdout).toMatch(/refused +bob: create namespaces app-shop/);
    expect(stdout).toMatch(/defaulted +bob: create namespaces app-shop/);
    expect(stdout).toMatch(/created +Secret app-shop\/registry, for SecretShare\/registry/);
    expect(stdout).not.toContain('\u001B');
  });
});

test('--demo --json prints one event a line, and every scene goes as described', async () => {
  const { code, stdout } = await up(['--demo', '--json']).ended();
  expect(code).toBe(0);
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly type: string });
  expect(events[0]?.type).toBe('ready');
  expect(new Set(events.slice(1).map(({ type }) => type))).toEqual(
    new Set(['scene', 'outcome', 'tour', 'decision', 'written', 'refused']),
  );
  const { length } = scenes;
  expect(events.at(-1)).toEqual({ type: 'tour', kept: length, all: length });
});

test('--quiet prints only how to begin', async () => {
  const reeve = up(['--quiet']);
  await eventually(() => reeve.stdout).toContain('SecretShare/registry: namespaces called app-*');
  const before = reeve.stdout;
  reeve.kill('SIGINT');
  expect(await reeve.ended()).toEqual({ code: 0, stdout: before, stderr: '' });
});

describe('what it prints', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'the files are readable by their user only, and deleted when %s ends the program',
    async (signal) => {
      const reeve = up(['--json']);
      const { kubeconfig, caFile } = await ready(reeve);
      expect(statSync(dirname(kubeconfig)).mode & 0o777).toBe(0o700);
      expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
      expect(existsSync(caFile)).toBe(true);
      reeve.kill(signal);
      expect((await reeve.ended()).code).toBe(0);
      expect(existsSync(dirname(kubeconfig))).toBe(false);
    },
  );

  test('it prints the policies and shares in force, and its port is in use for another', async () => {
    const { inForce, url } = await ready(up(['--json']));
    expect(inForce).toEqual([
      { kind: 'SecretShare', name: 'orders-db', reach: 'namespaces labeled database=orders' },
      { kind: 'NamespacePolicy', name: 'apps', reach: 'namespaces called app-*' },
      { kind: 'SecretShare', name: 'registry', reach: 'namespaces called app-*' },
    ]);
    const { port } = new URL(url);
    const { code, stderr } = await up(['--api-port', port]).ended();
    expect(code).toBe(3);
    expect(stderr).toContain(`port ${port} of this machine is in use`);
  });

  test('the curl command that it prints is refused as announced', async () => {
    const reeve = up([]);
    await eventually(() => reeve.stdout).toContain('In force:');
    const curl = /^ {2}(curl .*)$/m.exec(reeve.stdout)?.[1] ?? '';
    const { stdout } = spawnSync('sh', ['-c', curl], { cwd: root, encoding: 'utf8' });
    expect(JSON.parse(stdout)).toMatchObject({
      response: { allowed: false, status: { message: expect.stringContaining('labels["owner"]') as string } },
    });
    // What curl asks the webhook stands in the feed as well.
    await eventually(() => reeve.stdout).toMatch(/refused +bob: create namespaces app-shop/);
  });
});

describe('a start that fails', () => {
  test.each([
    ['an unknown flag', ['--dmeo'], 2, 'did you mean --demo?'],
    ['a cluster', ['--kubeconfig', 'x'], 2, 'unknown'],
    ['policies that are not there', ['--policies', '/nowhere'], 3, '/nowhere cannot be read'],
  ])('a start with %s fails', async (_, args, code, message) => {
    const output = await up(args).ended();
    expect(output.code).toBe(code);
    expect(output.stderr).toContain(message);
    expect(output.stdout).toBe('');
  });

  test('an invalid policy prevents the start, and its place is printed', async () => {
    const wrong = `apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: {name: wrong}\nspec: {match: {names: [1]}}\n`;
    await using folder = await folderOf({ 'wrong.yaml': wrong });
    const { code, stderr } = await up(['--policies', folder.path]).ended();
    expect(code).toBe(3);
    expect(stderr).toMatch(/wrong\.yaml:4:\d+: policy wrong: spec\.match\.names\[0\]/);
  });
});
