// What `reeve test --init` writes for the sample policies, and what it refuses to do.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SuiteFolder } from '../support/suite-folder.ts';

const samples = 'manifests/samples/policies';
const files = readdirSync(samples);
const passed = /^(\d+) tests? in 1 suite: \1 passed\n/;
/** Only an author can say what an expression refuses and what a pattern accepts. A large Secret would make a suite unreadable. */
const uncovered: Readonly<Record<string, string>> = {
  'every-namespace.yaml': 'policy every-namespace: validations/not-privileged was never refused\n',
  'sandboxes.yaml':
    'policy sandboxes: validations/short was never refused; secrets.maxBytes was never refused\n',
  'team-namespaces.yaml': 'policy team-namespaces: namespaces.required was never allowed\n',
  'team-secrets.yaml': 'policy team-secrets: secrets.maxBytes was never refused\n',
};

describe('the first suite of a sample', () => {
  test.each(files)('%s passes, has the examples of its rules, and is the one in the file', async (file) => {
    using folder = new SuiteFolder();
    folder.copy(samples, 'policies');
    const written = await folder.run(`policies/${file}`, '--init');
    expect(written).toMatchObject({ code: 0, stdout: '' });
    expect(written.stderr).toMatch(/^~\/policies\/tests\/\S+: \d+ tests? written/);
    const { code, stdout, stderr } = await folder.run(`policies/tests/${file}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(passed);
    expect(stdout.replace(passed, '')).toBe(uncovered[file] ?? '');
    await expect(folder.read(`policies/tests/${file}`)).toMatchFileSnapshot(
      `../fixtures/written-suites/expected/${file}`,
    );
  });

  test('all policies of the folder together pass as well', async () => {
    using folder = new SuiteFolder();
    folder.copy(samples, 'policies');
    expect(await folder.run('policies', '--init')).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^~\/policies\/tests\/suite\.yaml: \d+ tests written\n$/) as string,
    });
    const { code, stdout } = await folder.run('policies');
    expect(code).toBe(0);
    expect(stdout).toMatch(passed);
  });
});

test('the comment of a first suite names each policy without an example', async () => {
  using folder = new SuiteFolder();
  folder.copy('test/fixtures/written-suites/odd.yaml', 'odd.yaml');
  expect(await folder.run('odd.yaml', '--init')).toEqual({
    code: 0,
    stdout: '',
    stderr: '~/tests/odd.yaml: 2 tests written\n',
  });
  expect(folder.read('tests/odd.yaml').split('apiVersion')[0]).toBe(
    [
      '# Written by reeve test --init: what Reeve answers today. reeve test names the rules that no test covers.',
      '# No example was found for NamespacePolicy/unmatched: no Namespace that it matches.',
      '',
    ].join('\n'),
  );
  expect(await folder.run('tests')).toMatchObject({ code: 0, stderr: '' });
});

test('the template at the end of a first suite is a test that --update fills', async () => {
  using folder = new SuiteFolder();
  folder.copy(`${samples}/sandboxes.yaml`, 'a.yaml');
  await folder.run('a.yaml', '--init');
  const [written = '', template = ''] = folder
    .read('tests/a.yaml')
    .split(/(?<=fills in what Reeve answers:\n)/);
  const own = template.replaceAll(/^#/gm, '').replace('name: team-blue', 'name: sandbox-blue');
  folder.write('tests/a.yaml', written + own);
  expect((await folder.run('tests')).code).toBe(1);
  expect((await folder.run('tests', '--update')).code).toBe(0);
  expect(await folder.run('tests')).toMatchObject({ code: 0, stderr: '' });
  expect(folder.read('tests/a.yaml')).toContain('verdict: refused');
});

const policyOf = (name: string, spec: object): string =>
  JSON.stringify({ apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name }, spec });

/** Writes a first suite for these documents, which must pass, and returns it. */
async function firstSuiteOf(...documents: readonly string[]): Promise<string> {
  using folder = new SuiteFolder();
  folder.write('a.yaml', documents.join('\n---\n'));
  expect((await folder.run('a.yaml', '--init')).stderr).toMatch(/tests? written/);
  expect(await folder.run('tests')).toMatchObject({ code: 0, stderr: '' });
  return folder.read('tests/a.yaml');
}

describe('the examples', () => {
  test('examples of two policies for one name have titles of their own', async () => {
    const specOf = (tier: string): object => ({
      match: { names: ['prod'], namespaceSelector: { matchLabels: { tier } } },
      namespaces: { required: { labels: { team: {} } } },
    });
    const suite = await firstSuiteOf(policyOf('a', specOf('gold')), policyOf('b', specOf('iron')));
    const title = 'creating Namespace prod without label team is refused (namespaces.required)';
    expect(suite).toContain(`name: ${title}\n`);
    expect(suite).toContain(`name: ${title}, `);
  });

  test('an example names the rule that it is from, whatever else it violates', async () => {
    const suite = await firstSuiteOf(
      policyOf('a', {
        namespaces: { name: { pattern: '^team-' }, required: { labels: { team: {} } } },
      }),
    );
    expect(suite).toContain('without label team is refused (namespaces.required)\n');
  });

  test('examples are sent by a user whom the policy accepts', async () => {
    const suite = await firstSuiteOf(
      policyOf('a', { namespaces: { requesters: { users: ['bob'], serviceAccounts: ['ci/deployer'] } } }),
    );
    expect(suite).toMatch(/as: bob\n/);
  });

  test('an example fills a quota of at most ten namespaces', async () => {
    const quotaOf = async (max: number): Promise<string> =>
      await firstSuiteOf(policyOf('a', { namespaces: { quota: { label: 'team', max } } }));
    expect(await quotaOf(10)).toContain('with label team other is refused (namespaces.quota)\n');
    expect(await quotaOf(11)).toContain('with label team other is allowed\n');
  });

  test('an example has the labels that the selector of the policy demands', async () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['gold', 'iron'] },
      { key: 'env', operator: 'Exists' },
      { key: 'old', operator: 'DoesNotExist' },
    ];
    const suite = await firstSuiteOf(
      policyOf('a', {
        match: { namespaceSelector: { matchExpressions } },
        namespaces: { immutable: { labels: ['tier'] } },
      }),
    );
    expect(suite).toContain('tier: gold\n');
    expect(suite).toContain('in label tier is refused (namespaces.immutable)');
    expect(suite).not.toContain('old:');
  });
});

describe('no suite is written', () => {
  test('over a file, whose text stays', async () => {
    using folder = new SuiteFolder();
    folder.copy(`${samples}/team-rbac.yaml`, 'a.yaml');
    folder.write('tests/a.yaml', 'mine');
    expect(await folder.run('a.yaml', '--init')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        '~/tests/a.yaml was not written: it exists already, and --init never overwrites a file; --update rewrites what its tests expect\n',
    });
    expect(folder.read('tests/a.yaml')).toBe('mine');
  });

  test.for<[title: string, text: string, problem: RegExp]>([
    [
      'for a policy that does not load',
      'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\n',
      /^~\/a\.yaml:1:1: /,
    ],
    ['for YAML that is broken', '{', /^~\/a\.yaml:\d+:\d+: invalid YAML: /],
    [
      'for objects without a policy',
      'apiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n',
      /^~\/tests\/a\.yaml was not written: no policy or share was found/,
    ],
    [
      'for a file without a document',
      '',
      /^~\/tests\/a\.yaml was not written: ~\/a\.yaml cannot be read: there is no object in YAML or JSON\n$/,
    ],
  ])('%s', async ([, text, problem]) => {
    using folder = new SuiteFolder();
    folder.write('a.yaml', text);
    const { code, stderr } = await folder.run('a.yaml', '--init');
    expect(code).toBe(1);
    expect(stderr).toMatch(problem);
    expect(() => folder.read('tests/a.yaml')).toThrow(/ENOENT/);
  });

  test('no suite is written for one path, and the exit code says so although another path got its suite', async () => {
    using folder = new SuiteFolder();
    folder.copy(`${samples}/team-rbac.yaml`, 'a.yaml');
    const { code } = await folder.run('a.yaml', join(folder.path, 'nowhere.yaml'), '--init');
    expect(code).toBe(1);
    expect(folder.read('tests/a.yaml')).toContain('kind: Suite');
  });

  test('no suite is written for a path that does not exist, or where no folder can be created', async () => {
    using folder = new SuiteFolder();
    expect((await folder.run('nowhere.yaml', '--init')).stderr).toBe(
      '~/tests/nowhere.yaml was not written: ~/nowhere.yaml cannot be read: there is no such file or folder\n',
    );
    folder.copy(`${samples}/team-rbac.yaml`, 'a.yaml');
    folder.write('tests', 'a file');
    expect(await folder.run('a.yaml', '--init')).toEqual({
      code: 1,
      stdout: '',
      stderr: '~/tests/a.yaml was not written: its folder cannot be created (EEXIST)\n',
    });
  });
});
