// Each expectation of a suite fails when it is changed, so no test can pass by accident.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringifyYaml } from '../../../../src/base/yaml.ts';
import { reeveTest } from '../../../support/run-suites.ts';

const policies = resolve('test/fixtures/suites/policies');
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-suites-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs one test of a suite. Returns the paths of the expectations that do not hold. */
async function failuresOf(tested: object, file = 'suite.yaml'): Promise<readonly string[]> {
  const path = join(folder, file);
  const suite = {
    apiVersion: 'cli.reeve.dev/v1',
    kind: 'Suite',
    policies: [join(policies, 'team.yaml')],
    objects: [join(policies, 'tests/cluster.yaml')],
    now: '2026-11-23T12:00:00Z',
    tests: [{ name: 'the test', ...tested }],
  };
  await writeFile(path, stringifyYaml(suite));
  const { stdout } = await reeveTest([path, '-o', 'json']);
  const [result] = (JSON.parse(stdout) as Results).suites;
  expect(result?.problems).toEqual([]);
  return result?.tests[0]?.failures.map((failure) => failure.path) ?? [];
}

interface Results {
  readonly suites: readonly {
    readonly problems: readonly unknown[];
    readonly tests: readonly { readonly failures: readonly { readonly path: string }[] }[];
  }[];
}

const namespace = (labels: object) => ({
  create: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-c', labels } },
});
const good = namespace({ team: 'blue', env: 'dev', 'cost-center': '4711' });
const withoutCosts = namespace({ team: 'blue', env: 'dev' });

test.for<[title: string, tested: object, holds: object, fails: object, paths: readonly string[]]>([
  ['verdict', { request: good }, { verdict: 'allowed' }, { verdict: 'refused' }, ['expect.verdict']],
  ['verdict', { request: withoutCosts }, { verdict: 'warned' }, { verdict: 'allowed' }, ['expect.verdict']],
  [
    'verdict',
    { request: namespace({ team: 'blue' }) },
    { verdict: 'refused' },
    { verdict: 'warned' },
    ['expect.verdict'],
  ],
  [
    'rule',
    { request: withoutCosts },
    { rule: 'namespaces.required' },
    { rule: 'namespaces.name' },
    ['expect.rule'],
  ],
  [
    'message',
    { request: withoutCosts },
    { message: '^policy costs, ' },
    { message: '^costs' },
    ['expect.message'],
  ],
  ['warnings', { request: withoutCosts }, { warnings: 1 }, { warnings: 0 }, ['expect.warnings']],
  [
    'object',
    { request: good },
    { object: { metadata: { name: 'team-c', deletionTimestamp: null } } },
    { object: { metadata: { name: 'team-d', labels: { team: null } } } },
    ['expect.object.metadata.name', 'expect.object.metadata.labels.team'],
  ],
  [
    'contents',
    { request: good },
    { contents: ['ResourceQuota/team', 'RoleBinding/developers'] },
    { contents: ['RoleBinding/developers'] },
    ['expect.contents'],
  ],
  [
    'includes',
    { namespace: 'team-a' },
    { includes: ['Secret/registry'] },
    { includes: ['Secret/registry', 'Secret/x'] },
    ['expect.includes[1]'],
  ],
  [
    'absent',
    { namespace: 'team-b' },
    { absent: ['Secret/registry'] },
    { absent: ['ResourceQuota/team'] },
    ['expect.absent[0]'],
  ],
  [
    'provided',
    { namespace: 'team-a' },
    { provided: [{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'team' } }] },
    { provided: [{ apiVersion: 'v2', kind: 'ResourceQuota', metadata: { name: 'team' } }] },
    ['expect.provided[0]'],
  ],
  [
    'violations',
    { namespace: 'team-b' },
    { violations: ['namespaces.required', 'secrets.forbiddenTypes'] },
    { violations: ['secrets.forbiddenTypes'] },
    ['expect.violations'],
  ],
])(
  'an expectation of %s holds, and fails when it is another one',
  async ([, tested, holds, fails, paths]) => {
    expect(await failuresOf({ ...tested, expect: holds })).toEqual([]);
    expect(await failuresOf({ ...tested, expect: fails })).toEqual(paths);
  },
);
