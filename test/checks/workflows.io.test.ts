// The workflows of GitHub, checked without GitHub: they are valid, pin what they use, and run scripts that exist.
import { spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { builtBy, findGo } from '../cluster/go-program.ts';

const root = resolve(import.meta.dirname, '../..');

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly on: object;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { readonly uses?: string; readonly needs?: string; readonly steps?: readonly Step[] }>
  >;
}

const paths = globSync('.github/workflows/*.yml', { cwd: root });
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const workflow = (path: string): Workflow => parse(read(path)) as Workflow;
const stepsOf = (path: string): readonly Step[] =>
  Object.values(workflow(path).jobs).flatMap(({ steps = [] }) => steps);

test('there is a workflow for each change and one for releases', () => {
  expect(paths.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    '.github/workflows/ci.yml',
    '.github/workflows/release.yml',
  ]);
  expect(workflow('.github/workflows/release.yml').on).toEqual({ push: { tags: ['v*'] } });
  expect(stepsOf('.github/workflows/ci.yml').some(({ run = '' }) => run.includes('.ci/run'))).toBe(true);
});

const go = await findGo();
if (go === undefined && process.env['REEVE_CLUSTER_TESTS'] === 'required')
  throw new Error('Go is not on the PATH, so there is no actionlint to check the workflows with');
const { skipIf } = describe;

skipIf(go === undefined)('actionlint', { timeout: 600_000 }, () => {
  /** Knows the syntax of workflows, the contexts of expressions, and the inputs of well-known actions. */
  const problemsIn = async (input: string): Promise<string> => {
    const actionlint = await builtBy(go ?? 'go', process.env, {
      name: 'actionlint',
      module: join(import.meta.dirname, 'actionlint'),
      folder: 'github.com/rhysd/actionlint/cmd/actionlint',
      files: [],
      variables: () => [],
    });
    // Without programs that not every machine has.
    const args = ['-no-color', '-shellcheck=', '-pyflakes=', '-stdin-filename=.github/workflows/x.yml', '-'];
    const { stdout, stderr } = spawnSync(actionlint, args, { cwd: root, input, encoding: 'utf8' });
    return stdout + stderr;
  };

  test.each(paths)('actionlint finds no problem in %s', async (path) => {
    expect(await problemsIn(read(path))).toBe('');
  });

  test('actionlint finds a step that reads an output of no step', async () => {
    const broken = read('.github/workflows/release.yml').replace('id: release\n', 'id: other\n');
    expect(await problemsIn(broken)).toContain('property "release" is not defined');
  });
});

test('a workflow may only read, and a job that needs more says so', () => {
  expect(paths).not.toEqual([]);
  for (const path of paths) expect(workflow(path).permissions, path).toEqual({ contents: 'read' });
});

test('each action is pinned to a commit, with its version beside it', () => {
  const lines = paths.flatMap((path) => read(path).split('\n')).filter((line) => line.includes('uses: '));
  const pinned = /uses: (?:[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\.github\/workflows\/ci\.yml)$/u;
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => !pinned.test(line))).toEqual([]);
});

test('each script that a step runs exists, can be executed, and parses', () => {
  const runs = paths.flatMap(stepsOf).flatMap(({ run }) => (run === undefined ? [] : [run]));
  const scripts = new Set(runs.flatMap((run) => run.match(/\.ci\/[\w-]+/gu) ?? []));
  expect([...scripts].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    ['push-chart', 'release-facts', 'run', 'sign'].map((name) => `.ci/${name}`),
  );
  for (const script of scripts) {
    expect(statSync(join(root, script)).mode & 0o111, script).toBe(0o111);
    expect(spawnSync('bash', ['-n', join(root, script)]).status, script).toBe(0);
  }
  for (const run of runs) expect(spawnSync('bash', ['-n'], { input: run }).status, run).toBe(0);
});

test('a release publishes nothing before its tests pass, and names no registry', () => {
  const { jobs } = workflow('.github/workflows/release.yml');
  expect(jobs['publish']?.needs).toBe('test');
  expect(jobs['test']?.uses).toBe('./.github/workflows/ci.yml');
  const text = read('.github/workflows/release.yml').replaceAll('registry.example.com', '');
  expect(text).not.toMatch(/ghcr\.io|docker\.io|quay\.io/u);
  expect(text).toContain('${{ vars.REGISTRY }}');
});

test('a release is refused when the tag is not the version of package.json and of the chart', () => {
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  const facts = (tag: string) => spawnSync(join(root, '.ci/release-facts'), [tag], { encoding: 'utf8' });
  expect(facts(`v${version}`)).toMatchObject({ status: 0, stderr: '' });
  expect(facts(`v${version}`).stdout).toMatch(new RegExp(`^version=${version}\nepoch=\\d+\n$`, 'u'));
  expect(facts('v99.0.0')).toMatchObject({
    status: 1,
    stderr: `package.json is version ${version}, and not 99.0.0\n`,
  });
});

test('the chart of a release names its image by digest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-chart-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // In place of Helm: keeps the values that are packaged, and answers a push as Helm does.
  const helm = `#!/bin/sh\n[ "$1" = push ] && echo "Digest: sha256:feed" >&2 || cp "$4/values.yaml" ${folder}\n`;
  writeFileSync(join(folder, 'helm'), helm);
  chmodSync(join(folder, 'helm'), 0o755);
  const [image, digest] = ['registry.example.com/team/reeve', 'sha256:beef'];
  const { status, stdout } = spawnSync(
    join(root, '.ci/push-chart'),
    [image, digest, 'registry.example.com/team/charts', '0.1.0'],
    { encoding: 'utf8', env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` } },
  );
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'digest=sha256:feed\n' });
  expect(parse(readFileSync(join(folder, 'values.yaml'), 'utf8'))).toMatchObject({
    image: { repository: image, digest },
  });
});
