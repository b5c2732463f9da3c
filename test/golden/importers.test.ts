// What `reeve import` prints for each case of test/fixtures/importers, with all steps and all that is lost.
//
// `npm run test:update` rewrites expected.yaml; then read the difference.
import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../src/cli/commands.ts';
import type { ImportOutput } from '../../src/inspect/output-schemas/import-output.ts';
import { importFrom, importSources } from '../../src/importers/importers.ts';
import { readObjects } from '../../src/state/yaml-files.ts';
import { foldersOfImporters, importCases } from '../support/import-cases.ts';
import { runCommand } from '../support/run-command.ts';

const fixtures = 'test/fixtures/importers';

async function imported(args: readonly string[], stdin = '') {
  return await runCommand(['import', ...args], { stdin });
}

describe.each(importCases())('$source, $name', ({ source, name, objects, options }) => {
  const args = [source, '-f', `${fixtures}/${source}/${name}/input.yaml`];
  const flags = options.fromBindings ? ['--from-bindings'] : [];

  test('the output is that of expected.yaml, and can be applied', async () => {
    const { code, stdout } = await imported([...args, ...flags]);
    expect(code).toBe(0);
    await expect(stdout).toMatchFileSnapshot(`../fixtures/importers/${source}/${name}/expected.yaml`);
    const read = readObjects({ file: 'expected.yaml', text: stdout });
    expect(read.problems).toEqual([]);
    expect(read.objects.map(({ value }) => value)).toEqual(
      importFrom(source, objects, options).objects.map(({ object }) => object),
    );
  });

  test('the order of the input changes nothing but the order of the output', () => {
    const result = importFrom(source, objects, options);
    const reversed = importFrom(source, objects.toReversed(), options);
    expect(reversed.lost.length).toBe(result.lost.length);
    expect(reversed.objects.length).toBe(result.objects.length);
  });
});

test('each source has a folder of cases, and no other folder is there', () => {
  expect(foldersOfImporters()).toEqual([...importSources]);
});

describe('the command', () => {
  const teams = `${fixtures}/rbac-manager/teams/input.yaml`;

  test('the command prints the same as JSON', async () => {
    const { code, stdout } = await imported(['rbac-manager', '-f', teams, '-o', 'json']);
    expect(code).toBe(0);
    await expect(stdout).toMatchFileSnapshot('../fixtures/import-output/teams.json');
  });

  test('every field that is lost is in the text, as it is in JSON', async () => {
    const tenant = ['capsule', '-f', `${fixtures}/capsule/tenant/input.yaml`];
    const { lost } = JSON.parse((await imported([...tenant, '-o', 'json'])).stdout) as ImportOutput;
    const { stdout } = await imported(tenant);
    const section = stdout.slice(stdout.indexOf('# Not carried over'));
    const paths = lost.flatMap(({ from }) => from.path ?? []);
    expect(paths.filter((path) => !section.includes(path))).toEqual([]);
  });

  test('three objects that share a reason are named, and the text says where the others are', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const tenants = names.map(
      (name) =>
        `{apiVersion: capsule.clastix.io/v1beta2, kind: Tenant, metadata: {name: ${name}}, spec: {storageClasses: {allowed: [x]}, priorityClasses: {allowed: [x]}}}`,
    );
    const { stdout } = await imported(['capsule', '-f', '-'], tenants.join('\n---\n'));
    expect(stdout).toMatch(
      /spec\.\w+, spec\.\w+ \(stdin:1\); .*; and 2 more objects with such fields \(-o json lists all\): /,
    );
  });

  test('the command counts on standard error, and says what must never be done', async () => {
    const { stderr } = await imported(['rbac-manager', '-f', teams]);
    expect(stderr).toMatch(
      /^never delete an RBACDefinition without --cascade=orphan: .*\n4 objects; 1 part /,
    );
  });

  test('the command exits with 1 if something is lost and it is strict', async () => {
    expect(await imported(['rbac-manager', '-f', teams, '--strict'])).toMatchObject({ code: 1 });
  });

  test('the command exits with 1 if nothing of the tool is found', async () => {
    expect(await imported(['capsule', '-f', teams])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'nothing of capsule was found\n',
    });
  });

  test('the command exits with 3 if a document is no object, and names its place', async () => {
    const { code, stderr } = await imported(['capsule', '-f', '-'], 'kind: Tenant\n');
    expect(code).toBe(3);
    expect(stderr).toMatch(/^stdin:1:1: apiVersion: /);
  });

  test('the command knows no other source', async () => {
    expect(await readCommand(['import', 'kustomize'], {})).toMatchObject({
      kind: 'wrong',
      code: 2,
      problems: [expect.stringMatching(/^"kustomize" is not valid; accepted: capsule, /)],
    });
  });

  test('a line break in a name ends no comment', async () => {
    const secret = `{apiVersion: v1, kind: Secret, metadata: {name: "a\\nkind: Secret", namespace: b, annotations: {${annotation}}}}`;
    const { stdout } = await imported(['reflector', '-f', '-'], secret);
    expect(stdout).not.toMatch(/^kind: Secret/m);
  });
});

const annotation = 'reflector.v1.k8s.emberstack.com/reflects: c/d';

describe('a Secret that moves to a shared namespace', () => {
  test('a Secret that moves to a shared namespace is written with its values only to the file that a person names, which no other user can read', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'reeve-import-')), 'secrets.yaml');
    const args = ['clustersecret', '-f', `${fixtures}/clustersecret/inline/input.yaml`];
    const { stdout } = await imported([...args, '--secrets-file', path]);
    const text = await readFile(path, 'utf8');
    await expect(text).toMatchFileSnapshot('../fixtures/import-output/secrets.yaml');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(stdout).toContain(`kubectl apply -f ${path}, delete that file`);
    expect(await imported([...args, '--secrets-file', path])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `${path} was not written: it exists already\n`,
    });
  });
});
