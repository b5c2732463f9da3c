// What `reeve explain` prints, in each format, for each kind of target.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../src/base/yaml.ts';
import { readCommand } from '../../src/cli/commands.ts';
import { schemaProblems } from '../support/json-schema-problems.ts';
import { runCommand } from '../support/run-command.ts';

const schema: unknown = JSON.parse(readFileSync('schemas/explanation.json', 'utf8'));

const files = ['-f', 'test/fixtures/explain/policies.yaml', '-f', 'test/fixtures/explain/cluster.yaml'];
const requests = 'test/fixtures/explain/requests';
const assumed = 'the files have no Deployment of Reeve, so its default flags count\n';

async function explain(args: readonly string[], stdin = '') {
  return await runCommand(['explain', ...args], { stdin });
}

const cases: readonly (readonly [name: string, code: number, ...args: string[]])[] = [
  ['namespace-matched', 0, 'namespace/team-a'],
  ['namespace-violating', 0, 'ns/team-b'],
  ['namespace-near', 0, 'ns/team-with-long-name'],
  ['namespace-excluded', 0, 'namespace/reeve-shared'],
  ['namespace-ending', 0, 'namespace/ending'],
  ['namespace-misspelled', 1, 'namespace/taem-a'],
  ['object-missing', 1, 'secret/regcred', '-n', 'team-a'],
  ['object-unwanted', 0, 'secret/regcred', '-n', 'team-b'],
  ['object-conflict', 0, 'quota/team', '-n', 'team-a'],
  ['object-skipped', 1, 'rolebinding/ad-red', '-n', 'team-b'],
  ['object-of-others', 0, 'rolebinding/own', '-n', 'team-a'],
  ['object-near', 1, 'secret/regcred', '-n', 'team-with-long-name'],
  ['object-unknown', 1, 'configmap/nothing', '-n', 'team-a'],
  ['object-of-source-missing', 1, 'secret/lost', '-n', 'team-a'],
  ['object-expired', 1, 'rolebinding/on-call', '-n', 'team-a'],
  ['policy', 0, 'policy/team'],
  ['policy-failing', 0, 'policy/failing'],
  ['policy-broken', 0, 'policy/broken'],
  ['policy-misspelled', 1, 'nspol/taem'],
  ['share', 0, 'share/regcred'],
  ['request-namespace-refused', 1, `${requests}/namespace-refused.json`],
  ['request-namespace-allowed', 0, `${requests}/namespace-allowed.yaml`],
  ['request-contents', 1, `${requests}/namespace-failing.yaml`],
  ['request-secret', 0, `${requests}/secret.yaml`],
  ['request-binding', 1, `${requests}/binding.yaml`],
  ['request-policy', 1, `${requests}/policy.yaml`],
];

const runs = cases.flatMap(([name, code, ...args]) =>
  ['text', 'json'].map((format) => ({ name, code, args, format })),
);

test.each(runs)('the explanation $name is the same as in the file, as $format', async (run) => {
  const { name, code, args, format } = run;
  const explained = await explain([...args, ...files, '-o', format]);
  expect(explained).toMatchObject({ code, stderr: assumed });
  // The Secrets of these files hold it, also in base64.
  expect(explained.stdout).not.toMatch(/canary|Y2FuYXJ5/);
  if (format === 'json') expect(schemaProblems(schema, JSON.parse(explained.stdout))).toEqual([]);
  await expect(explained.stdout).toMatchFileSnapshot(`../fixtures/explain/expected/${name}.${format}`);
});

test('with the install among the files, the rights of its account are known', async () => {
  const { stdout, stderr } = await explain(['policy/team', ...files, '-f', 'manifests/install']);
  expect(stderr).toBe('');
  expect(stdout).toContain(
    '\nReeve needs get, list, watch, create, patch, delete on rolebindings.rbac.authorization.k8s.io: held\n',
  );
});

test('a right that the account of the install lacks is missing, and the place to add it is named', async () => {
  const install = await readFile('manifests/install/20-reconciler.yaml', 'utf8');
  const without = install.replaceAll('rolebindings', 'others');
  const rest = ['-f', 'manifests/install/61-reconciler.yaml'];
  const { stdout } = await explain(['policy/team', ...files, '-f', '-', ...rest], without);
  expect(stdout).toContain('on rolebindings.rbac.authorization.k8s.io: missing\n');
  expect(stdout).toContain(
    'add to the rules of ClusterRole reeve-reconciler (manifests/install/20-reconciler.yaml)',
  );
});

test('a long list is cut, unless all of it is wanted', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `n${String(index).padStart(2, '0')}`);
  const namespaces = names.map((name) => `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}}}`);
  const policy =
    '{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {match: {names: ["n*"]}}}';
  const all = [policy, ...namespaces].join('\n---\n');
  const short = await explain(['policy/p', '-f', '-'], all);
  expect(short.stdout).toMatch(/matches 30 namespaces\n {2}n00\n[^]* {2}n19\n {2}and 10 more \(--all\)\n$/);
  expect((await explain(['policy/p', '-f', '-', '--all'], all)).stdout).toMatch(/ {2}n29\n$/);
});

test('control characters of a name or value never reach the terminal', async () => {
  const text =
    '{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {team: "\\u001b[2J"}}}\n---\n' +
    '{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {match: {namespaceSelector: {matchLabels: {team: red}}}}}';
  const { stdout } = await explain(['namespace/a', '--all', '-f', '-'], text);
  expect(stdout).toContain('found label team="\uFFFD[2J"');
  // oxlint-disable-next-line no-control-regex -- what must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
});

test("a tenant's binding is found in its namespace, and matches that namespace alone", async () => {
  const namespaces = ['shop', 'other']
    .map((name) => `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}}}`)
    .join('\n---\n');
  const sample = ['-f', 'manifests/samples/intents/namespaced/dns-manipulation.yaml', '-f', '-'];
  const { code, stdout } = await explain(['binding/dns-manipulation', '-n', 'shop', ...sample], namespaces);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^SecurityIntentBinding\/shop\/dns-manipulation matches 1 namespace; objects: /);
  expect(stdout).toMatch(/\nmatches 1 namespace\n {2}shop\n$/);
  const elsewhere = await explain(['namespace/other', ...sample], namespaces);
  expect(elsewhere.stdout).not.toContain('dns-manipulation');
});

test('a kind that the install does not allow is explained, if a policy wants it', async () => {
  const policy =
    '{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: jobs}, spec: {contents: {resources: ' +
    '[{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {}}]}}}\n---\n' +
    '{apiVersion: v1, kind: Namespace, metadata: {name: a}}';
  const { code, stdout } = await explain(['cronjob/c', '-n', 'a', '-f', '-'], policy);
  expect(code).toBe(1);
  expect(stdout).toContain(
    'there is no CronJob a/c: NamespacePolicy/jobs cannot provide it: this installation does not allow policies to provide CronJob of batch/v1\n',
  );
});

test.each([
  ['no_thing', '"no_thing" is neither a file nor KIND/NAME, such as namespace/team-a'],
  ['policy', 'a name is missing: policy/NAME'],
  ['ns', 'a name is missing: ns/NAME'],
  ['namespace/', '"namespace/" is neither a file nor KIND/NAME, such as namespace/team-a'],
  ['secrit/x', 'Reeve provides no kind "secrit"; did you mean secret?'],
  ['pod/x', 'Reeve provides no kind "pod"'],
  ['sint/x', 'an intent has no objects of its own: explain its bindings, with binding/NAME'],
  ['secret/x', 'secret/x is in a namespace: add -n NAMESPACE'],
])('the target %s is refused', async (target, problem) => {
  expect(await explain([target, ...files])).toEqual({
    code: 2,
    stdout: '',
    stderr: `${assumed}${problem}\n`,
  });
});

describe('a request', () => {
  test('a request can come from standard input, beside files', async () => {
    const text = await readFile(`${requests}/binding.yaml`, 'utf8');
    const { code, stdout } = await explain(['-', ...files], text);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^CREATE of RoleBinding team-b\/admins by alice is refused\n/);
  });

  test('a request and the objects of -f cannot both come from standard input', async () => {
    expect(await readCommand(['explain', '-', '-f', '-'], {})).toMatchObject({
      kind: 'wrong',
      problems: ['standard input is either the request or the objects of -f, not both'],
      code: 2,
    });
  });

  test.each([
    [{ username: 'a', groups: ['reeve:break-glass'] }, 'group reeve:break-glass'],
    [{ username: 'system:serviceaccount:reeve-system:reeve-reconciler', groups: [] }, 'its own account'],
  ])('a request of %j is never sent to Reeve, and that is said', async (userInfo, who) => {
    const { request } = JSON.parse(await readFile(`${requests}/namespace-refused.json`, 'utf8')) as {
      readonly request: object;
    };
    const { stdout } = await explain(['-', ...files], JSON.stringify({ request: { ...request, userInfo } }));
    expect(stdout).toContain(`\nthe API server does not ask Reeve about requests of ${who}\n`);
  });

  test('in a namespace that Reeve never matches says so, and lists no policy', async () => {
    const text = await readFile(`${requests}/binding.yaml`, 'utf8');
    const { code, stdout } = await explain(['-', ...files], text.replaceAll('team-b', 'kube-system'));
    expect([code, stdout]).toEqual([
      0,
      'CREATE of RoleBinding kube-system/admins by alice is allowed\n' +
        'namespace kube-system: no policy matches it, because it belongs to Kubernetes or Reeve, or the install excludes it\n',
    ]);
  });

  test('a request that the webhook cannot read is refused in its words, and explains no policy', async () => {
    const { code, stdout } = await explain(['-', ...files], '{"request": {"operation": "CREATE"}}');
    expect([code, stdout]).toEqual([
      1,
      'the request is refused\n  the request: request.uid: must be a text of 1 to 128 characters\n',
    ]);
  });

  test('a request for a deletion says which rules have nothing to judge', async () => {
    const text = await readFile(`${requests}/namespace-allowed.yaml`, 'utf8');
    const deletion = text
      .replace('operation: UPDATE', 'operation: DELETE')
      .replace(/\n {2}object:\n[^]*$/, '\n');
    const { stdout } = await explain(['-', ...files], deletion);
    expect(stdout).toContain('rule namespaces.name: not checked: a deletion leaves no object to judge\n');
    expect(stdout).toContain(
      'rule namespaces.deletion: violated: metadata.annotations["reeve.dev/allow-deletion"]: found nothing;',
    );
  });

  test('a request that is none is refused, without a part of it', async () => {
    const { code, stdout, stderr } = await explain(['test/fixtures/explain/cluster.yaml', ...files]);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toBe('test/fixtures/explain/cluster.yaml is not one AdmissionReview with a request\n');
  });
});

describe('a target in the words of kubectl', () => {
  test.each([
    [['ns', 'team-a'], 'namespace/team-a'],
    [['team-a'], 'namespace/team-a'],
    [['-n', 'team-a'], 'namespace/team-a'],
    [['policy', 'team'], 'policy/team'],
  ])('%j is %s', async (words, target) => {
    expect((await explain([...words, ...files])).stdout).toBe((await explain([target, ...files])).stdout);
  });

  test('KIND NAME of an object is KIND/NAME', async () => {
    const { stdout } = await explain(['secret', 'regcred', '-n', 'team-b', ...files]);
    expect(stdout).toBe((await explain(['secret/regcred', '-n', 'team-b', ...files])).stdout);
  });

  test('a name alone beside -n lacks the kind', async () => {
    expect(await explain(['regcred', '-n', 'team-b', ...files])).toMatchObject({
      code: 2,
      stderr: `${assumed}the kind is missing: KIND/regcred -n team-b\n`,
    });
  });

  test('no target at all is a problem', async () => {
    expect(await readCommand(['explain'], {})).toMatchObject({
      problems: ['a target is missing: NAME of a namespace, KIND/NAME, or a file'],
    });
  });
});

test('YAML has the fields of JSON', async () => {
  const [yaml, json] = await Promise.all(
    ['yaml', 'json'].map(async (format) => (await explain(['team-a', ...files, '-o', format])).stdout),
  );
  const [document] = parseYaml(yaml ?? '').documents;
  expect(document).toMatchObject({ kind: 'data', value: JSON.parse(json ?? '') as unknown });
});

describe('what a user may do', () => {
  const bob = ['--as', 'bob', '--as-group', 'dev'];

  test('what a user may do in a namespace is said with what Reeve would refuse', async () => {
    const { code, stdout } = await explain(['team-a', ...bob, ...files]);
    expect(code).toBe(0);
    expect(stdout).toContain('\ndelete namespace team-a: no right\n');
    expect(stdout).toContain(
      '\nchange labels that decide what NamespacePolicy/team matches and gives: refused: the right use is missing\n',
    );
  });

  test('what a user may do depends on the groups', async () => {
    const { stdout } = await explain(['team-a', '--as', 'bob', '--as-group', 'leads', ...files]);
    expect(stdout).toContain(
      '\nchange labels that decide what NamespacePolicy/team matches and gives: allowed\n',
    );
  });

  test('what a user may do follows the schema, and lists a refused creation', async () => {
    const roles =
      '{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: creators}, rules: [{apiGroups: [""], resources: [namespaces], verbs: [create, delete]}]}\n---\n' +
      '{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: creators}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: creators}, subjects: [{kind: Group, name: dev}]}';
    const args = ['team-new', ...bob, ...files, '-f', '-', '-o', 'json'];
    const { stdout } = await explain(args, roles);
    const output = JSON.parse(stdout) as unknown;
    expect(schemaProblems(schema, output)).toEqual([]);
    expect(output).toMatchObject({
      found: false,
      user: 'bob',
      may: expect.arrayContaining([
        expect.objectContaining({ action: 'create namespace team-new', outcome: 'refused' }),
      ]) as unknown,
    });
  });

  test('what a user may do replaces the user of a request', async () => {
    const { stdout } = await explain([`${requests}/binding.yaml`, ...bob, ...files]);
    expect(stdout).toMatch(/^CREATE of RoleBinding team-b\/admins by bob is /);
  });

  test('what a user may do needs a user for a group', async () => {
    expect(await readCommand(['explain', 'a', '--as-group', 'dev'], {})).toMatchObject({
      problems: ['--as-group goes with --as'],
    });
  });
});

test('equal lines of a policy become one line with their number of namespaces', async () => {
  const namespaces = Array.from({ length: 18 }, (_, index) => `n${String(index).padStart(2, '0')}`);
  const share =
    '{apiVersion: reeve.dev/v1alpha1, kind: SecretShare, metadata: {name: s}, spec: {source: {namespace: reeve-shared, name: gone}, targets: {names: ["n*"]}}}';
  const all = [
    share,
    ...namespaces.map((name) => `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}}}`),
  ];
  const { stdout } = await explain(['share/s', '-f', '-'], all.join('\n---\n'));
  expect(stdout.match(/there is no Secret reeve-shared\/gone/g)).toHaveLength(1);
  expect(stdout).toContain('\n  n00, n01, n02, n03, n04 and 13 more: Secret/gone: blocked: ');
});

test('the explanation of a policy that costs too much names its cost', async () => {
  const expression = 'lists.range(210).all(x, lists.range(210).all(y, x + y >= 0))';
  const text = [
    '{apiVersion: v1, kind: Namespace, metadata: {name: a}}',
    `{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {match: {names: [a], matchConditions: [{name: c, expression: "${expression}"}]}}}`,
  ].join('\n---\n');
  const { stdout } = await explain(['policy/p', '-f', '-'], text);
  expect(stdout).toMatch(
    /\bit costs 44\d,\d{3} units in namespace a, of the 2,500,000 units that all policies together may cost/,
  );
});

test('a conflicting RoleBinding is explained with what both grant, and the command to run next', async () => {
  const text = [
    '{apiVersion: v1, kind: Namespace, metadata: {name: a}}',
    '{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: devs, namespace: a}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}, subjects: [{kind: User, name: eve}]}',
    '{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p}, spec: {match: {names: [a]}, contents: {roleBindings: [{name: devs, roleRef: {kind: ClusterRole, name: view}, subjects: [{kind: Group, name: dev}]}]}}}',
  ].join('\n---\n');
  const { stdout } = await explain(['rolebinding', 'devs', '-n', 'a', '-f', '-'], text);
  expect(stdout).toContain(
    '\nNamespacePolicy/p wants it to grant ClusterRole/view for Group/dev; until: no end\n' +
      'the existing one grants ClusterRole/admin for User/eve\n' +
      'run next: reeve adopt --policy p -n a --dry-run\n',
  );
});
