// What `reeve test --update` writes into suites, and what it leaves as it is.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringifyYaml } from '../../src/base/yaml.ts';
import { updateSuites } from '../../src/cli/commands/test-update.ts';
import { findInstall } from '../../src/cli/input/find-install.ts';
import { readObjects } from '../../src/state/yaml-files.ts';
import { SuiteFolder } from '../support/suite-folder.ts';

const suites = 'test/fixtures/suites/policies';
const failing = 'policies/tests/failing.yaml';

test('expectations that differ are rewritten and listed, and nothing of a Secret is written', async () => {
  using folder = new SuiteFolder();
  folder.copy(suites, 'policies');
  const before = folder.read(failing);
  const { code, stdout, stderr } = await folder.run(failing, '--update');
  // Payloads of Secrets and objects that do not exist still differ.
  expect(code).toBe(1);
  expect(stdout).toMatch(/^12 tests in 1 suite: 7 passed, 5 failed$/m);
  const after = folder.read(failing);
  await expect(after).toMatchFileSnapshot('../fixtures/written-suites/expected/updated.yaml');
  await expect(stderr).toMatchFileSnapshot('../fixtures/written-suites/expected/updated.txt');
  const canaries = (text: string): number => text.split('canary').length;
  expect([canaries(after), canaries(stdout + stderr)]).toEqual([canaries(before), 1]);
});

test('a second update changes nothing, and neither does one of a suite that passes', async () => {
  using folder = new SuiteFolder();
  folder.copy(suites, 'policies');
  await folder.run(failing, '--update');
  const files = [failing, 'policies/tests/passing.yaml'];
  const before = files.map((file) => folder.read(file));
  for (const file of files) expect((await folder.run(file, '--update')).stderr).toBe('');
  expect(files.map((file) => folder.read(file))).toEqual(before);
});

test('with a pattern, only tests of these names are updated', async () => {
  using folder = new SuiteFolder();
  folder.copy(suites, 'policies');
  const { code, stdout, stderr } = await folder.run(failing, '--update', '--run', '^another verdict');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '1 test in 1 suite: 1 passed\n' });
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^~\/policies\/tests\/failing\.yaml:12:\d+: expect\.verdict: allowed -> refused: /),
  ]);
});

test('the answers are those at the time of the suite', async () => {
  using folder = new SuiteFolder();
  const spec = {
    namespaces: { required: { labels: { env: {} } } },
    exceptions: [
      { namespaces: ['*'], rules: ['namespaces.required'], expiresAt: '2026-11-23T00:00:00Z', reason: 'a' },
    ],
  };
  const create = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } };
  const suite = {
    apiVersion: 'cli.reeve.dev/v1',
    kind: 'Suite',
    policies: ['a.yaml'],
    now: '2026-11-22T00:00:00Z',
    tests: [{ name: 'a', request: { create }, expect: { verdict: 'refused' } }],
  };
  const policy = { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name: 'a' }, spec };
  folder.write('a.yaml', stringifyYaml(policy));
  folder.write('suite.yaml', stringifyYaml(suite));
  expect(await folder.run('suite.yaml', '--update')).toMatchObject({ code: 0 });
  expect(folder.read('suite.yaml')).toContain('verdict: allowed');
});

test('a file that cannot be written is named, with the reason', async () => {
  using folder = new SuiteFolder();
  folder.copy(suites, 'policies');
  const file = join(folder.path, 'policies/tests/gone.yaml');
  const { objects } = readObjects({ file, text: folder.read(failing) });
  const said: string[] = [];
  const options = { findInstall, now: new Date(0), isWanted: () => true };
  expect(await updateSuites(objects, options, (text) => said.push(text))).toBe(false);
  expect(said).toEqual([`${file} was not changed: the system refuses it (ENOENT)\n`]);
});

test('a file below a folder that cannot be read is named, with the reason', async () => {
  using folder = new SuiteFolder();
  folder.copy(suites, 'policies');
  symlinkSync('nowhere', join(folder.path, 'policies/tests/link.yaml'));
  const { code, stderr } = await folder.run('policies', '--run', '^the team of');
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: '~/policies/tests/link.yaml:1:1: the file cannot be read: there is no such file or folder\n',
  });
});
