// What `reeve plan` says of violations, of differing defaults and of deletions.
import { describe, expect, test } from 'vitest';
import { apiVersion as reeve } from '../../src/schema/names.ts';
import { KubeError } from '../../src/base/kube-error.ts';
import { readCommand } from '../../src/cli/commands.ts';
import { findInstall } from '../../src/cli/input/find-install.ts';
import { clusterState, withObjects } from '../../src/inspect/input/cluster-state.ts';
import { planCluster } from '../../src/inspect/plan/plan-cluster.ts';
import { textOfPlan } from '../../src/inspect/plan/plan-text.ts';
import { aNamespace, assumed, namespacePolicy, planObjects } from '../support/plan-command.ts';

describe('the violations that a policy causes', () => {
  const rbac = 'rbac.authorization.k8s.io';
  const binding = (namespace: string, role: string) => ({
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: role, namespace },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: 'dev' }],
  });
  const state = [
    ...['a', 'b', 'c'].map((name) => aNamespace(name, name === 'c' ? { env: 'dev' } : {})),
    binding('a', 'cluster-admin'),
    binding('b', 'cluster-admin'),
    binding('b', 'view'),
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'all', namespace: 'a' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }],
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'token', namespace: 'a' },
      type: 'example.com/token',
      data: { key: 'Y2FuYXJ5' },
    },
  ];
  const rules = (more: object = {}) => ({
    validationActions: ['Deny'],
    namespaces: { required: { labels: { env: {} } } },
    ...more,
  });
  const all = rules({
    rbac: { allowedRoleRefs: ['ClusterRole/view'], forbidWildcardRules: true },
    secrets: { forbiddenTypes: ['example.com/token'] },
  });
  const line = '6 open violations: 2 of Namespaces, 1 of Roles, 2 of RoleBindings, 1 of Secrets';

  test('the violations that a policy causes are one line for a new policy, with rules on Secrets and RBAC', async () => {
    const { code, stdout } = await planObjects([namespacePolicy('p', all)], state);
    expect(code).toBe(0);
    expect(stdout).toContain(`NamespacePolicy/p  new\n  ${line}\n`);
    const markdown = await planObjects([namespacePolicy('p', all)], state, '-o', 'markdown');
    expect(markdown.stdout).toContain(`- \`NamespacePolicy/p\`: new\n  - ${line}\n`);
  });

  test('the violations that a policy causes are listed one by one with --all, without a value of a Secret', async () => {
    const { stdout } = await planObjects([namespacePolicy('p', all)], state, '--all');
    expect(stdout).toContain(
      `  ${line}\n` +
        '    Namespace/a: policy p, namespaces.required: metadata.labels["env"]: found nothing; accepted: any value that is not empty\n',
    );
    expect(stdout).toContain(
      '    RoleBinding/cluster-admin in namespace b: policy p, rbac.allowedRoleRefs: ',
    );
    expect(stdout).toContain('    Secret/token in namespace a: policy p, secrets.forbiddenTypes: ');
    expect(stdout).not.toContain('Y2FuYXJ5');
  });

  test('name those that were there before, and those that would end', async () => {
    const stored = namespacePolicy('p', rules());
    const grown = await planObjects([namespacePolicy('p', all)], [...state, stored]);
    expect(grown.stdout).toContain(`  ${line}; 2 were there before\n`);
    const shrunk = await planObjects(
      [namespacePolicy('p', { ...rules(), match: { names: ['a'] } })],
      [...state, namespacePolicy('p', all)],
    );
    expect(shrunk.stdout).toContain(
      '  1 open violation: 1 of Namespaces; all were there before; 5 violations would end\n',
    );
  });

  test('count as known problems where the files do not change them', async () => {
    const stored = namespacePolicy('p', all);
    const { stdout } = await planObjects(
      [namespacePolicy('q', { match: { names: ['a'] } })],
      [...state, stored],
    );
    expect(stdout).toContain('  6 known problems, unchanged (--all shows them)\n');
    expect(stdout).not.toContain('NamespacePolicy/p');
    const whole = await planObjects([namespacePolicy('q', {})], [...state, stored], '--all');
    expect(whole.stdout).toContain(`NamespacePolicy/p\n  ${line}; all were there before\n`);
  });

  test('the violations that a policy causes are counted for a policy that the files do not have, where they bring a namespace under it', async () => {
    const match = { namespaceSelector: { matchLabels: { tier: 'team' } } };
    const stored = namespacePolicy('p', { ...all, match, validationActions: ['Audit'] });
    const { stdout } = await planObjects([aNamespace('a', { tier: 'team' })], [...state, stored]);
    expect(stdout).toContain(
      'NamespacePolicy/p\n  4 open violations: 1 of Namespaces, 1 of Roles, 1 of RoleBindings, 1 of Secrets\n',
    );
  });

  test('the violations that a policy causes are shown for a namespace of --only that they are in', async () => {
    const only = async (name: string) =>
      (
        await planObjects(
          [namespacePolicy('p', { ...all, validationActions: ['Audit'] })],
          state,
          '--only',
          name,
        )
      ).stdout;
    expect(await only('ns/b')).toContain(`NamespacePolicy/p\n  ${line}\n`);
    expect(await only('ns/c')).not.toContain('NamespacePolicy/p');
  });

  test('the violations that a policy causes leave out an object that Reeve would delete', async () => {
    const contents = {
      roleBindings: [
        {
          name: 'cluster-admin',
          roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
          subjects: [{ kind: 'Group', name: 'dev' }],
        },
      ],
    };
    const match = { names: ['a'] };
    const finalizers = ['reeve.dev/cleanup'];
    const owned = binding('a', 'cluster-admin');
    const managed = {
      ...owned,
      metadata: {
        ...owned.metadata,
        labels: { 'app.kubernetes.io/managed-by': 'reeve', 'reeve.dev/namespacepolicy': 'p' },
        annotations: { 'reeve.dev/owner': 'NamespacePolicy/p' },
      },
    };
    const stored = namespacePolicy('p', { match, contents }, { finalizers });
    const next = namespacePolicy('p', { match, rbac: { allowedRoleRefs: ['ClusterRole/view'] } });
    const { stdout } = await planObjects([next], [aNamespace('a'), managed, stored]);
    expect(stdout).toContain('- delete  RoleBinding/cluster-admin');
    expect(stdout).not.toContain('open violation');
  });

  test('the violations that a policy causes say which kinds were not judged on a cluster, and never that there are none', async () => {
    const base = clusterState(
      {
        origin: 'a cluster',
        isCluster: true,
        install: findInstall([], {}),
        unread: [{ kind: 'RoleBinding', reason: 'this account may not read it' }],
        isServed: () => true,
        hasManagers: true,
      },
      [aNamespace('a', { env: 'dev' })],
    );
    const forbidden = (async function* () {
      await Promise.reject(new KubeError({ code: 403, reason: 'Forbidden', retryable: false }));
      yield* [];
    })();
    const policy = namespacePolicy('p', all);
    const found = await planCluster({
      base,
      objects: [policy],
      existing: { roles: { objects: forbidden }, secrets: { unread: '--secrets judges them' } },
      now: new Date('2026-11-23T08:00:00Z'),
    });
    expect(
      textOfPlan(found, {
        paint: { added: String, removed: String, strong: String, faint: String },
        isWhole: false,
      }),
    ).toContain(
      'NamespacePolicy/p  new\n  not judged: Roles (this account may not read it), RoleBindings (this account may not read it), Secrets (--secrets judges them)\n',
    );
    // Rules that stay as they are give no such line.
    const stored = withObjects(base, [policy]);
    const unchanged = await planCluster({
      base: stored,
      objects: [policy],
      now: new Date('2026-11-23T08:00:00Z'),
    });
    expect(unchanged.violations).toEqual([]);
  });
});

describe('the violation of a quota', () => {
  const policy = (label: string, match: object = {}) =>
    namespacePolicy('p', { match, validationActions: ['Audit'], namespaces: { quota: { label, max: 1 } } });
  const teams = (names: readonly string[], team = 'red') =>
    names.map((name) => aNamespace(name, { team, unit: team }));
  const known = '1 open violation: 1 of Namespaces; all were there before\n';
  const other = '1 open violation: 1 of Namespaces; 1 violation would end\n';

  test.each([
    ['is not new where its first namespace leaves', teams(['a'], 'blue'), known],
    ['is not new where a namespace joins that comes first', teams(['0']), known],
    [
      'is not new where the policy matches fewer namespaces',
      [policy('team', { excludeNames: ['a'] })],
      known,
    ],
    ['is new for another value', teams(['a', 'b', 'c'], 'blue'), other],
    ['is new for another label', [policy('unit')], other],
  ])('an exceeded quota %s', async (_, files, line) => {
    const { stdout } = await planObjects(files, [...teams(['a', 'b', 'c']), policy('team')], '--all');
    expect(stdout).toContain(`  ${line}`);
  });
});

test('two policies of the files with different defaults of one key warn at the later one', async () => {
  const tier = (value: string) => ({ namespaces: { defaults: { labels: { tier: value } } } });
  const files = [namespacePolicy('b', tier('2')), namespacePolicy('a', tier('1'))];
  const { stdout } = await planObjects(files, [aNamespace('x')]);
  expect(stdout.match(/.*its default of label tier.*/g)).toEqual([
    '    NamespacePolicy/a: its default of label tier is "1", and that of NamespacePolicy/b is "2"; where both match, NamespacePolicy/a comes first: 1 namespace (x)',
  ]);
});

describe('the plan of a deletion', () => {
  const finalizers = ['reeve.dev/cleanup'];
  const quota = (name: string, owner?: string) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: {
      name,
      ...(owner === undefined
        ? {}
        : {
            namespace: 'a',
            labels: { 'app.kubernetes.io/managed-by': 'reeve', 'reeve.dev/namespacepolicy': owner },
            annotations: { 'reeve.dev/owner': `NamespacePolicy/${owner}` },
          }),
    },
    spec: { hard: { pods: '1' } },
  });
  const spec = { match: { names: ['a'] }, contents: { resources: [quota('q')] } };
  const state = [aNamespace('a'), namespacePolicy('p', spec, { finalizers }), quota('q', 'p')];

  test('the plan of a deletion shows what the end of a policy deletes', async () => {
    const { code, stdout } = await planObjects([], state, '--delete', 'policy/p', '--exit-code');
    expect(code).toBe(2);
    expect(stdout).toBe(
      'Plan of 1 deletion on a state in files, 1 namespace\n  1 delete\n\n' +
        'NamespacePolicy/p  deleted\n  the API server would warn:\n' +
        '    NamespacePolicy/p no longer reaches 1 namespace: a\n' +
        '    NamespacePolicy/p deletes up to 1 object in namespace: a\n\n' +
        'namespace a\n  - delete  ResourceQuota/q  NamespacePolicy/p\n',
    );
  });

  test('the plan of a deletion goes with files', async () => {
    const files = [namespacePolicy('q', { match: { names: ['a'] } })];
    const { stdout } = await planObjects(files, state, '--delete', 'nspol/p', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ documents: 1, deletions: 1, counts: { delete: 1 } });
  });

  test('the plan of a deletion of a policy without the finalizer leaves its objects', async () => {
    const { stdout } = await planObjects(
      [],
      [aNamespace('a'), namespacePolicy('p', spec), quota('q', 'p')],
      '--delete',
      'policy/p',
    );
    expect(stdout).not.toContain('- delete');
    expect(stdout).toContain('lacks the finalizer reeve.dev/cleanup');
  });

  test('the plan of a deletion of an intent ends what its bindings provide', async () => {
    const intent = {
      apiVersion: reeve,
      kind: 'SecurityIntent',
      metadata: { name: 'closed' },
      spec: { id: 'denyExternalNetworkAccess' },
    };
    const binding = {
      apiVersion: reeve,
      kind: 'ClusterSecurityIntentBinding',
      metadata: { name: 'closed', finalizers },
      spec: { match: { names: ['a'] }, intents: ['closed'] },
    };
    const { stdout } = await planObjects([], [aNamespace('a'), intent, binding], '--delete', 'intent/closed');
    expect(stdout).toContain('SecurityIntent/closed  deleted\n');
    expect(stdout).toContain(
      'is deleted, and no longer holds for 1 binding: ClusterSecurityIntentBinding/closed',
    );
  });

  test.each([
    ['policy/q', 'there is no NamespacePolicy/q; did you mean NamespacePolicy/p?'],
    ['intent/none', 'there is no SecurityIntent/none'],
  ])('the plan of a deletion of a name that does not exist is no plan: %s', async (name, problem) => {
    expect(await planObjects([], state, '--delete', name)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `${assumed}--delete: ${problem}\n`,
    });
  });

  test('the plan of a deletion of an object of the files is no plan', async () => {
    expect(await planObjects([namespacePolicy('p', {})], state, '--delete', 'policy/p')).toMatchObject({
      stdout: '',
      stderr: `${assumed}--delete: NamespacePolicy p is also in the files\n`,
    });
  });

  test.each([
    ['ns/a', '--delete: "ns/a" is not valid'],
    ['binding/', '--delete: "binding/" is not valid'],
  ])('the plan of a deletion of another kind is a wrong flag: %s', async (name, problem) => {
    expect(await readCommand(['plan', '--delete', name], {})).toMatchObject({
      kind: 'wrong',
      problems: [expect.stringContaining(problem) as string],
    });
  });
});
