// What `reeve test` prints, in each format, for suites that pass, fail or cannot run.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../src/cli/commands.ts';
import { reeveTest } from '../support/run-suites.ts';
import { SuiteFolder } from '../support/suite-folder.ts';

const suites = 'test/fixtures/suites';

describe('the results of suites that pass, fail or cannot run', () => {
  test.each(['text', 'json', 'junit', 'github'])('the results equal the file, as %s', async (format) => {
    const { code, stdout, stderr } = await reeveTest([suites, '-o', format]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    await expect(stdout).toMatchFileSnapshot(`../fixtures/suites/expected/results.${format}`);
  });

  test('the results of suites that pass, fail or cannot run show nothing of a Secret', async () => {
    const files = await Promise.all(
      ['policies/tests/cluster.yaml', 'policies/tests/failing.yaml'].map((file) =>
        readFile(`${suites}/${file}`, 'utf8'),
      ),
    );
    // The fixtures must have what the output must not have.
    expect(files.join('')).toMatch(/canary-value.*canary-note|canary-note.*canary-value/s);
    for (const format of ['text', 'json', 'junit', 'github']) {
      const { stdout } = await reeveTest([suites, '-o', format, '--verbose']);
      expect(stdout).not.toContain('canary');
      expect(stdout).not.toContain(Buffer.from('canary').toString('base64').slice(0, 7));
    }
  });
});

test('a suite whose tests pass exits with 0 and names the rules that no test covers', async () => {
  expect(await reeveTest([`${suites}/policies/tests/passing.yaml`])).toEqual({
    code: 0,
    stderr: '',
    stdout: '15 tests in 1 suite: 15 passed\npolicy team: rbac.forbiddenSubjects was never allowed\n',
  });
});

test('with a pattern, only the tests of these names run, and coverage is left out', async () => {
  const { code, stdout } = await reeveTest([suites, '--run', '^a right|^the team', '--verbose']);
  expect(code).toBe(3);
  expect(stdout).toMatch(/passing\.yaml:\d+:\d+: passed: a right can be given for one test\n/);
  expect(stdout).toMatch(/\n2 tests in 4 suites: 2 passed, 2 suites could not run\n$/);
});

test('a pattern that matches no test exits with 3, because nothing was tested', async () => {
  const paths = [`${suites}/policies/tests/passing.yaml`, '--run', 'no such test'];
  expect(await reeveTest(paths)).toEqual({
    code: 3,
    stdout: '0 tests in 1 suite: 0 passed\n',
    stderr: '--run: no test has a name that matches\n',
  });
});

test('a policy that kubectl reads differently cannot be tested', async () => {
  using folder = new SuiteFolder();
  folder.write(
    'team.yaml',
    'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: { name: team }\nspec: { match: { names: [off] } }',
  );
  folder.write(
    'suite.yaml',
    'apiVersion: cli.reeve.dev/v1\nkind: Suite\npolicies: [team.yaml]\n' +
      'tests: [{ name: t, request: { create: { apiVersion: v1, kind: Namespace, metadata: { name: a } } }, expect: { verdict: allowed } }]',
  );
  const { code, stdout } = await folder.run('suite.yaml');
  expect(code).toBe(3);
  expect(stdout).toContain('~/team.yaml:4:26: ');
  expect(stdout).toContain('kubectl reads this value as a boolean');
});

describe('where there is no suite, the command exits with 3 and says so', () => {
  test.each([
    ['a folder without suites', 'test/fixtures/pki', 'no suite was found; see reeve test --help\n'],
    ['no such path', 'nowhere', 'nowhere cannot be read: there is no such file or folder\n'],
  ])('%s', async (_title, path, stderr) => {
    expect(await reeveTest([path])).toEqual({ code: 3, stdout: '', stderr });
  });
});

test('objects that a suite gives exist in its tests, and a wrong one is a problem with its place', async () => {
  using folder = new SuiteFolder();
  folder.copy(`${suites}/policies/team.yaml`, 'team.yaml');
  const suite = (given: string): string =>
    [
      'apiVersion: cli.reeve.dev/v1',
      'kind: Suite',
      'policies: [team.yaml]',
      'given:',
      `  - ${given}`,
      'tests: [{ name: it is there, namespace: given-a, expect: { contents: [] } }]',
    ].join('\n');
  folder.write('suite.yaml', suite('{ apiVersion: v1, kind: Namespace, metadata: { name: given-a } }'));
  expect(await folder.run('suite.yaml')).toMatchObject({ code: 0, stderr: '' });
  folder.write('suite.yaml', suite('{ apiVersion: v1, kind: Namespace, metadata: {} }'));
  const { code, stdout } = await folder.run('suite.yaml');
  expect(code).toBe(3);
  expect(stdout).toMatch(/^~\/suite\.yaml:5:\d+: given\[0\]\.metadata\.name: /);
});

test.for<[flags: readonly string[], problem: string]>([
  [['--init', '--run', 'a'], '--init runs no test: leave out --update and --run'],
  [['--init', '--update'], '--init runs no test: leave out --update and --run'],
  [['--watch', '-o', 'json'], '--watch only shows results: leave out --init, --update and -o'],
  [['--watch', '--update'], '--watch only shows results: leave out --init, --update and -o'],
  [['--run', '(?=a)'], '--run: lookahead (?= is not supported (RE2 syntax)'],
])('the flags %j are wrong: %s', async ([flags, problem]) => {
  expect(await readCommand(['test', ...flags], {})).toMatchObject({
    kind: 'wrong',
    problems: [problem],
    code: 2,
  });
});
