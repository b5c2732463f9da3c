// The suites that `reeve test --init` and `--update` write pass, for any policies.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyYaml } from '../../src/base/yaml.ts';
import type { TestResults } from '../../src/inspect/output-schemas/test-results.ts';
import { problemsOf } from '../support/engine.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { SuiteFolder } from '../support/suite-folder.ts';

const key = fc.constantFrom('team', 'env', 'example.com/a', 'constructor');
const value = fc.constantFrom('', 'red', 'blue', 'prod');
const pattern = fc.constantFrom('^[a-z]+$', '^team-[a-z]+(-[0-9]{2})?$', 'x', '^(red|blue)$', '^.{70}$');
const requirement = fc.record(
  { pattern, values: fc.uniqueArray(value, { minLength: 1, maxLength: 2 }) },
  { requiredKeys: [] },
);
const required = fc.dictionary(key, requirement, { maxKeys: 2 });
const text = fc.oneof(
  value,
  fc.constantFrom('${namespaceObject.metadata.name}', '${request.userInfo.username}'),
);
const defaults = fc.dictionary(key, text, { maxKeys: 2 });
const keys = fc.uniqueArray(key, { maxLength: 2 });
const optional = { requiredKeys: [] };
const namespaces = fc.record(
  {
    name: fc.record({ pattern }),
    required: fc.record({ labels: required, annotations: required }, optional),
    defaults: fc.record({ labels: defaults, annotations: defaults }, optional),
    immutable: fc.record({ labels: keys, annotations: keys }, optional),
    requesters: fc.record(
      {
        groups: fc.constant(['platform']),
        users: fc.constant(['alice']),
        serviceAccounts: fc.constant(['ci/deployer']),
      },
      optional,
    ),
    quota: fc.record({ label: key, max: fc.integer({ min: 0, max: 3 }) }),
    deletion: fc.record({ protect: fc.boolean() }),
  },
  optional,
);
const types = fc.constantFrom(['Opaque'], ['kubernetes.io/tls'], ['example.com/another']);
const secrets = fc.record(
  {
    forbiddenTypes: types,
    allowedTypes: types,
    maxBytes: fc.constantFrom(1, 10, 5000),
    tls: fc.constant({ keyMatchesCertificate: true }),
    dockerConfig: fc.constant({ allowedRegistries: ['*.example.com'] }),
    defaults: fc.record({ labels: defaults }),
  },
  optional,
);
const rbac = fc.record(
  {
    allowedRoleRefs: fc.constantFrom(['ClusterRole/view'], ['Role/*']),
    forbiddenSubjects: fc.constantFrom(['Group/system:*'], ['ServiceAccount/*/default'], ['User/*']),
    forbidWildcardRules: fc.boolean(),
  },
  optional,
);
const expression = fc.constantFrom(
  'object.metadata.name.size() <= 20',
  "!has(object.metadata.labels) || !('team' in object.metadata.labels) || object.metadata.labels.team != 'red'",
  "object.metadata.labels['team'] == 'blue'",
  "oldObject == null || request.operation != 'UPDATE'",
);
const match = fc.record(
  {
    names: fc.constantFrom(['*'], ['team-*'], ['a', 'b*']),
    excludeNames: fc.constantFrom(['example'], ['team-a*']),
    namespaceSelector: fc.record({
      matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
      matchExpressions: fc.constantFrom(
        [],
        [{ key: 'env', operator: 'Exists' }],
        [{ key: 'env', operator: 'NotIn', values: ['prod'] }],
      ),
    }),
    matchConditions: fc.constantFrom(
      [],
      [{ name: 'c', expression: "namespaceObject.metadata.labels['team'] == 'red'" }],
    ),
  },
  optional,
);
const contents = fc.constant({
  roleBindings: [
    {
      name: 'owners',
      roleRef: { kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'Group', name: "${namespaceObject.metadata.labels['team']}" }],
    },
  ],
});
const policy = fc
  .record(
    {
      match,
      namespaces,
      secrets,
      rbac,
      contents,
      validations: expression.map((each) => [{ name: 'v', expression: each }]),
      validationActions: fc.constantFrom(['Deny'], ['Warn'], ['Audit'], ['Warn', 'Audit']),
      validationActionOverrides: fc.constantFrom(
        [{ names: ['team-*'], actions: ['Warn'] }],
        [{ names: ['*'], actions: ['Deny'] }],
        [{ namespaceSelector: { matchLabels: { tier: 'prod' } }, actions: ['Audit'] }],
      ),
    },
    optional,
  )
  .map((spec) => ({ kind: 'NamespacePolicy', spec }));
const share = fc
  .record({ names: fc.constantFrom(['*'], ['team-*']), type: fc.constantFrom('Opaque', 'kubernetes.io/tls') })
  .map(({ names, type }) => ({
    kind: 'SecretShare',
    spec: { source: { namespace: 'reeve-shared', name: 's' }, targets: { names }, target: { type } },
  }));
// A policy that contradicts itself does not load.
const providers = fc
  .array(fc.oneof({ arbitrary: policy, weight: 4 }, { arbitrary: share, weight: 1 }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((all) => all.filter(({ kind, spec }) => kind === 'SecretShare' || problemsOf('p', spec).length === 0));

function textOf(all: readonly object[]): string {
  const documents = all.map((each, index) =>
    stringifyYaml({ apiVersion: 'reeve.dev/v1alpha1', ...each, metadata: { name: `p${index}` } }),
  );
  return documents.join('---\n');
}

test('the first suite passes', async () => {
  const seen = { tests: 0, gaps: 0 };
  await fc.assert(
    fc.asyncProperty(providers, async (all) => {
      using folder = new SuiteFolder();
      folder.write('p.yaml', textOf(all));
      const written = await folder.run('p.yaml', '--init');
      // Not one of these policies may match a namespace.
      if (written.code !== 0) {
        expect(written.stderr).toMatch(
          /^~\/tests\/p\.yaml was not written: (no policy|~\/p\.yaml cannot be read)/,
        );
        return;
      }
      const { code, stdout, stderr } = await folder.run('tests/p.yaml', '-o', 'json');
      const { failed, passed, suites, coverage } = JSON.parse(stdout) as TestResults;
      expect({ code, stderr, failed, suites: suites.map(({ problems }) => problems) }).toEqual({
        code: 0,
        stderr: '',
        failed: 0,
        suites: [[]],
      });
      seen.tests += passed;
      seen.gaps += coverage.length;
    }),
    { numRuns: propertyRuns(300) },
  );
  expect(Math.min(seen.tests, seen.gaps)).toBeGreaterThan(5);
});

test('a suite that is updated passes, whatever became of the policies, and a second update changes nothing', async () => {
  let updated = 0;
  await fc.assert(
    fc.asyncProperty(providers, providers, async (before, after) => {
      fc.pre(after.length > 0);
      using folder = new SuiteFolder();
      folder.write('p.yaml', textOf(before));
      fc.pre((await folder.run('p.yaml', '--init')).code === 0);
      folder.write('p.yaml', textOf(after));
      const { code, stdout } = await folder.run('tests', '--update');
      expect(code, stdout).toBe(0);
      const written = folder.read('tests/p.yaml');
      const again = await folder.run('tests', '--update');
      expect({ ...again, written: folder.read('tests/p.yaml') }).toEqual({
        code: 0,
        stdout,
        stderr: '',
        written,
      });
      updated += 1;
    }),
    { numRuns: propertyRuns(200) },
  );
  expect(updated).toBeGreaterThan(5);
});
