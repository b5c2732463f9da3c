// What `reeve test --init` writes for the sample policies, and what it refuses to do.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SuiteFolder } from '../support/suite-folder.ts';

const samples = 'manifests/samples/policies';
const files = readdirSync(samples);
const passed = /^(\d+) tests? in 1 suite: \1 passed\n/;
/** A Secret of this size would make the suite unreadable. */
const tooLarge = ['sandboxes.yaml', 'team-secrets.yaml'];

describe('the first suite of a sample', () => {
  test.each(files)('%s passes, refuses and allows each rule, and is the one in the file', async (file) => {
    using folder = new SuiteFolder();
    folder.copy(samples, 'policies');
    const written = await folder.run(`policies/${file}`, '--init');
    expect(written).toMatchObject({ code: 0, stdout: '' });
    expect(written.stderr).toMatch(/^~\/policies\/tests\/\S+: \d+ tests? written/);
    const { code, stdout, stderr } = await folder.run(`policies/tests/${file}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(passed);
    const gaps = stdout.replace(passed, '');
    if (tooLarge.includes(file))
      expect(gaps).toMatch(/^policy [a-z-]+: secrets\.maxBytes was never refused\n$/);
    else expect(gaps).toBe('');
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
      stderr: expect.stringMatching(/^~\/policies\/tests\/suite\.yaml: \d+ tests written; /) as string,
    });
    const { code, stdout } = await folder.run('policies');
    expect(code).toBe(0);
    expect(stdout.replace(passed, '')).toBe(
      'policy sandboxes: secrets.maxBytes was never refused\npolicy team-secrets: secrets.maxBytes was never refused\n',
    );
  });
});

test('the comment of a first suite names each rule and each policy without an example', async () => {
  using folder = new SuiteFolder();
  folder.copy('test/fixtures/written-suites/odd.yaml', 'odd.yaml');
  expect(await folder.run('odd.yaml', '--init')).toEqual({
    code: 0,
    stdout: '',
    stderr: '~/tests/odd.yaml: 2 tests written; the file names 3 rules without an example\n',
  });
  expect(folder.read('tests/odd.yaml').split('apiVersion')[0]).toBe(
    [
      '# Written by reeve test --init: what Reeve answers today.',
      '# No example was found for:',
      '#   NamespacePolicy/unmatched: no Namespace that it matches',
      '#   policy odd, validations/late: never refused',
      '#   policy odd, secrets.maxBytes: never refused',
      '#   policy unmatched, namespaces.name: never evaluated',
      '',
    ].join('\n'),
  );
  expect(await folder.run('tests')).toMatchObject({ code: 0, stderr: '' });
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
  test('the examples of two policies for one name have titles of their own', async () => {
    const specOf = (tier: string): object => ({
      match: { names: ['prod'], namespaceSelector: { matchLabels: { tier } } },
      namespaces: { required: { labels: { team: {} } } },
    });
    const suite = await firstSuiteOf(policyOf('a', specOf('gold')), policyOf('b', specOf('iron')));
    const title = 'creating Namespace prod without label team is refused (namespaces.required)';
    expect(suite).toContain(`name: ${title}\n`);
    expect(suite).toContain(`name: ${title}, `);
  });

  test('name the rule that no earlier example violates', async () => {
    const suite = await firstSuiteOf(
      policyOf('a', {
        namespaces: { name: { pattern: '^team-[a-z]{1,20}$' } },
        validations: [{ name: 'short', expression: 'object.metadata.name.size() < 60' }],
      }),
    );
    expect(suite).toContain('rule: validations/short\n');
  });

  test('the examples are sent by a user whom each policy without groups accepts', async () => {
    const creator = { annotations: { 'created-by': '${request.userInfo.username}' } };
    const suite = await firstSuiteOf(
      policyOf('a', { namespaces: { requesters: { groups: ['platform'], users: ['alice'] } } }),
      policyOf('b', { namespaces: { requesters: { users: ['bob'] }, defaults: creator } }),
    );
    expect(suite).toMatch(/as: bob\n/);
  });

  test('the examples hold no text that the API server would refuse as a label, a registry or a second object', async () => {
    const condition = "namespaceObject.metadata.labels.?tier.orValue('') in ['not a label', 'gold']";
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'regcred', namespace: 'reeve-shared' },
    };
    const suite = await firstSuiteOf(
      policyOf('a', {
        match: { matchConditions: [{ name: 'a', expression: `'tier' != '' && ${condition}` }] },
        secrets: {
          allowedTypes: ['kubernetes.io/dockerconfigjson'],
          dockerConfig: { allowedRegistries: ['*.example.com'] },
        },
      }),
      JSON.stringify(secret),
      JSON.stringify({
        apiVersion: 'reeve.dev/v1alpha1',
        kind: 'SecretShare',
        metadata: { name: 'regcred' },
        spec: { source: { namespace: 'reeve-shared', name: 'regcred' }, targets: { names: ['*'] } },
      }),
    );
    expect(suite).toContain('tier: gold');
    expect(suite).toContain('example.example.com');
    expect(suite).not.toMatch(/tier: not a label|"\*\.example|namespace: reeve-shared/);
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
