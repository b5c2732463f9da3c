// What `reeve check -f` prints, in each format, for files with every kind of problem.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/run-command.ts';

const policies = 'test/fixtures/checks/policies';
const cluster = 'test/fixtures/checks/cluster';

async function check(args: readonly string[], stdin = '') {
  return await runCommand(['check', ...args], { stdin });
}

describe('the findings about files', () => {
  test.each(['text', 'json', 'github'])('the findings are those of the file, as %s', async (format) => {
    const { code, stdout, stderr } = await check(['-f', policies, '-f', cluster, '-o', format]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    await expect(stdout).toMatchFileSnapshot(`../fixtures/checks/expected/findings.${format}`);
  });
});

test('the files of the samples have no problem, and warnings exit with 1 only if they are strict', async () => {
  const paths = ['-f', 'manifests/samples/policies', '-f', 'manifests/samples/cluster'];
  expect(await check(paths)).toMatchObject({ code: 0 });
  expect(await check([...paths, '--strict'])).toMatchObject({ code: 1 });
});

test('the flags of an install in the files say what is allowed', async () => {
  const job = ['-f', `${policies}/team.yaml`];
  const notAllowed = /(\w+): policy team-red: batch\/v1\/Job is not allowed by (.*) \(--resource-kind\)/;
  const severity = async (args: readonly string[]) =>
    notAllowed.exec((await check(args)).stdout)?.slice(1, 3);
  expect(await severity(job)).toEqual(['warning', 'an install with default flags']);
  expect(await severity([...job, '-f', 'manifests/install'])).toEqual(['problem', 'the install']);
  expect(await severity([...job, '--resource-kind', 'batch/v1/Job'])).toBeUndefined();
});

test('standard input is read, and named stdin', async () => {
  const text = await readFile(`${policies}/share.yaml`, 'utf8');
  const { code, stdout } = await check(['-f', '-'], text);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^stdin:17:24: warning: share elsewhere: /);
  expect(stdout).toMatch(/\n1 file, 3 documents: 1 problem, 1 warning\n$/);
});

test('a path that does not exist is named on standard error', async () => {
  expect(await check(['-f', 'nowhere'])).toEqual({
    code: 3,
    stdout: '',
    stderr: 'nowhere cannot be read: there is no such file or folder\n',
  });
});

test('a misspelled kind is a problem, because the object would have no effect', async () => {
  const policy = '{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolcy, metadata: {name: team}, spec: {}}';
  expect(await check(['-f', '-'], policy)).toEqual({
    code: 1,
    stdout:
      'stdin:1:40: problem: kind: found "NamespacePolcy"; accepted: NamespacePolicy, SecretShare, ConfigMapShare, SecurityIntent, ' +
      'ClusterSecurityIntentBinding, SecurityIntentBinding or NamespaceClaim (did you mean NamespacePolicy?)\n' +
      '1 file, 1 document: 1 problem\n',
    stderr: '',
  });
});

describe('what policies do to namespaces that exist', () => {
  const policy = (name: string, namespaces: string) =>
    `apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: { name: ${name} }\nspec:\n  namespaces: ${namespaces}\n---\n`;
  const namespace = (name: string) =>
    `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}, labels: {team: red}}}\n---\n`;

  test('a policy that costs too much is a warning, also where it does not match', async () => {
    const dear = '{ matchConditions: [{ name: c, expression: "!%s" }] }'.replace(
      '%s',
      'lists.range(210).all(x, lists.range(210).all(y, x + y >= 0))',
    );
    const files = policy('p', `{}\n  match: ${dear}`);
    const { code, stdout } = await check(['-f', '-'], files + namespace('a'));
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^stdin:5:\d+: warning: policy p: costs 44\d,\d{3} units in namespace a, of the 2,500,000 units /,
    );
  });

  test('a Namespace whose defaults cost too much is a problem that names the cost, as its write would be refused', async () => {
    const dear = 'lists.range(220).all(x, lists.range(220).all(y, x + y >= 0))';
    const conditions = ['c', 'd', 'e'].map((name) => `{ name: ${name}, expression: "${dear}" }`);
    const defaults = '{ defaults: { labels: { env: dev } } }';
    const files = policy('p', `${defaults}\n  match: { matchConditions: [${conditions.join()}] }`);
    const { code, stdout } = await check(['-f', '-'], files + namespace('a'));
    expect(stdout).toContain(
      'problem: Namespace a: Namespace a is refused: evaluating the policies costs more than the 2,500,000 units of one request',
    );
    expect(code).toBe(1);
  });

  test('a quota below the number of namespaces is a warning', async () => {
    const files = policy('p', '{ required: { labels: { team: {} } }, quota: { label: team, max: 1 } }');
    const { code, stdout } = await check(['-f', '-'], files + namespace('a') + namespace('b'));
    expect(code).toBe(0);
    expect(stdout).toBe(
      'stdin:5:80: warning: policy p: allows 1 namespace for each value of label team, and more exist, which stay: red (2)\n' +
        '1 file, 3 documents: 1 warning\n',
    );
  });

  test('two defaults of one key are one warning, at the policy that does not set the key', async () => {
    const files =
      policy('a', '{ defaults: { labels: { tier: "1" } } }') +
      policy('b', '{ defaults: { labels: { tier: "2" } } }');
    const { code, stdout } = await check(['-f', '-'], files + namespace('x'));
    expect(code).toBe(0);
    expect(stdout).toBe(
      'stdin:11:45: warning: policy b: its default of label tier is "2", and that of NamespacePolicy/a is "1"; where both match, NamespacePolicy/a comes first: 1 namespace (x)\n' +
        '1 file, 3 documents: 1 warning\n',
    );
  });
});

describe('a file that kubectl reads differently', () => {
  const policy = (labels: string) =>
    'apiVersion: reeve.dev/v1alpha1\nkind: NamespacePolicy\nmetadata: { name: team }\n' +
    `spec:\n  match:\n    namespaceSelector:\n      matchLabels: ${labels}\n`;

  test('a file that kubectl reads differently is a problem at the very value', async () => {
    const { code, stdout } = await check(['-f', '-'], policy('{ mesh: on, 010: "x" }'));
    expect(code).toBe(1);
    expect(stdout).toBe(
      'stdin:7:28: problem: kubectl reads this value as a boolean, because it is not quoted (YAML 1.1); quote it, or write true or false\n' +
        'stdin:7:32: problem: kubectl reads the key "010" as "8", because it is not quoted (YAML 1.1); quote it, or write "8"\n' +
        '1 file, 1 document: 2 problems\n',
    );
  });

  test('a file that kubectl reads differently is no problem where merge keys are merged as kubectl does', async () => {
    const shared = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: a, labels: &l { mesh: "on" } }\n---\n';
    const merged = policy('{ <<: { mesh: "on" } }');
    expect(await check(['-f', '-'], shared + merged)).toMatchObject({ code: 0 });
    expect((await check(['-f', '-'], policy('{ <<: { mesh: [] } }'))).stdout).toMatch(
      /^stdin:7:34: problem: policy team: spec\.match\.namespaceSelector\.matchLabels\.mesh: found an empty list/,
    );
  });
});

test('files without a document are not said to be without problems', async () => {
  expect(await check(['-f', '-'], '')).toEqual({
    code: 3,
    stdout: '',
    stderr: 'standard input cannot be read: there is no object in YAML or JSON\n',
  });
});

describe('no value of a Secret is printed', () => {
  const value = 'canary-4f1c';
  const base64 = Buffer.from(value).toString('base64');
  const secrets = [
    `{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, data: {key: ${base64}}, stringData: {key: ${value}}}`,
    `{apiVersion: v1, kind: Secret, metadata: {namespace: b}, data: {key: ${base64}}}`,
    `{kind: Secret, metadata: {name: a}, stringData: {key: ${value}}}`,
    `apiVersion: v1\nkind: Secret\nmetadata: {name: a\nstringData:\n  key: ${value}`,
    `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  key: [${value}`,
    value,
  ];
  test.each(secrets.flatMap((text) => ['text', 'json', 'github'].map((format) => [format, text] as const)))(
    'as %s: %s',
    async (format, text) => {
      const { stdout, stderr } = await check(['-f', '-', '-o', format], text);
      expect(stdout + stderr).not.toContain(value);
      expect(stdout + stderr).not.toContain(base64);
    },
  );
});

describe('objects that policies have rules on', () => {
  const guard = `apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: { name: guard }
spec:
  match: { names: ['shop-*'] }
  namespaces:
    required: { labels: { size: { values: [small, large] } } }
    requesters: { groups: [platform] }
    defaults: { annotations: { created-by: '\${request.userInfo.username}' } }
  secrets: { forbiddenTypes: [bootstrap.kubernetes.io/token] }
  rbac: { allowedRoleRefs: [ClusterRole/view], forbidWildcardRules: true }
`;
  const namespace = (name: string, size: string) =>
    `---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n  labels: { size: ${size} }\n`;
  const rbac = 'apiVersion: rbac.authorization.k8s.io/v1';
  const binding = `---
${rbac}
kind: RoleBinding
metadata: { name: dev, namespace: shop-a }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit }
`;
  const role = `---
${rbac}
kind: Role
metadata: { name: all, namespace: shop-a }
rules: [{ apiGroups: [''], resources: ['*'], verbs: [get] }]
`;
  const secret = (place: string) => `---
apiVersion: v1
kind: Secret
metadata: { name: token, namespace: ${place} }
type: bootstrap.kubernetes.io/token
stringData: { token: do-not-print }
`;
  const other = '---\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: app, namespace: shop-a }\n';

  test('a Namespace, a Secret, a Role and a RoleBinding that a policy refuses are problems at the field', async () => {
    const files = guard + namespace('shop-a', 'Small') + binding + role + secret('shop-a');
    const { code, stdout } = await check(['-f', '-'], files);
    expect(code).toBe(1);
    expect(stdout.split('\n')).toEqual([
      'stdin:17:19: problem: Namespace shop-a: policy guard, namespaces.required: metadata.labels["size"]: found "Small"; accepted: "small" or "large"',
      'stdin:22:10: problem: RoleBinding shop-a/dev: policy guard, rbac.allowedRoleRefs: roleRef: found ClusterRole/edit; accepted: ClusterRole/view',
      'stdin:27:39: problem: Role shop-a/all: policy guard, rbac.forbidWildcardRules: rules[0].resources: found "*"; accepted: resources named one by one',
      'stdin:32:7: problem: Secret shop-a/token: policy guard, secrets.forbiddenTypes: type: found "bootstrap.kubernetes.io/token"; accepted: a type other than "bootstrap.kubernetes.io/token"',
      '1 file, 5 documents: 4 problems',
      '',
    ]);
  });

  test('a Namespace that follows the rules has no problem, because files do not name the user', async () => {
    const { code, stdout } = await check(['-f', '-'], guard + namespace('shop-a', 'small'));
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1 file, 2 documents: no problems\n' });
  });

  test('objects that no policy judges are counted by kind and reason', async () => {
    const files =
      guard + namespace('shop-a', 'small') + other + other.replace('app,', 'api,') + secret('nowhere');
    expect((await check(['-f', '-'], files)).stdout).toBe(
      [
        'not checked: 2 Deployments: no policy has rules on this kind',
        'not checked: 1 Secret: their Namespace is neither in the files nor in the cluster',
        '1 file, 5 documents: no problems',
        '',
      ].join('\n'),
    );
    expect((await check(['-f', '-', '-o', 'github'], files)).stdout).toMatch(
      '::notice::not checked: 2 Deployments: no policy has rules on this kind\n',
    );
  });

  test('without any policy, the last lines say that the Namespaces were not judged', async () => {
    const { stdout } = await check(['-f', '-'], namespace('shop-a', 'Small') + namespace('shop-b', 'Small'));
    expect(stdout).toMatch(
      /^not checked: 2 Namespaces: there is no policy to judge them by: add one with -f/,
    );
  });

  test('a list in place of a map is a problem, and not an error of the program', async () => {
    const broken = binding.replace(/roleRef: .*/, 'roleRef: []');
    const { code, stdout } = await check(['-f', '-'], guard + namespace('shop-a', 'small') + broken);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^stdin:22:10: problem: RoleBinding shop-a\/dev: /);
  });
});
