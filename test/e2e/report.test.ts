// `reeve report` on a real API server: it agrees with the statuses, keeps Reports of openreports.io, and says what it may not read.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve, reeveNamespace } from '../cluster/reeve-install.ts';
import type { ReportOutput } from '../../src/inspect/output-schemas/report-output.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { ReeveProcess, type Output } from '../support/serve-process.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import {
  configMap,
  namespaceObject,
  policy,
  roleBinding,
  share,
  type StoredObject,
  type WrittenObject,
} from './support/objects.ts';
import { runCommand } from './support/command.ts';
import { inTime } from './support/in-time.ts';
import { mayDo } from './support/install-roles.ts';
import { person } from './support/people.ts';
import { secret } from './support/secrets.ts';
import { Stage } from './support/stage.ts';

const group = 'rbac.authorization.k8s.io';
const reports = '/apis/openreports.io/v1alpha1';
const crd = 'test/fixtures/report/reports-crd.yaml';
const [team, copies] = [
  { kind: 'NamespacePolicy', name: 'team' },
  { kind: 'SecretShare', name: 'missing' },
] as const;

const binding = (name: string, role: string): WrittenObject => ({
  apiVersion: `${group}/v1`,
  kind: 'RoleBinding',
  metadata: { name, namespace: 'team-a' },
  roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: group, kind: 'Group', name: 'red' }],
});

/** A Report of another program. */
const foreign = {
  apiVersion: 'openreports.io/v1alpha1',
  kind: 'Report',
  metadata: { name: 'reeve', namespace: 'other' },
  source: 'scanner',
};

const objects = [
  namespaceObject('team-a', { team: 'red', env: 'dev' }),
  namespaceObject('team-b', { team: 'red' }),
  namespaceObject('other'),
  binding('developers', 'view'),
  binding('admins', 'cluster-admin'),
  secret({ name: 'password', namespace: 'team-b' }, { password: 'report-canary' }),
  policy('team', {
    validationActions: ['Audit'],
    match: { namespaceSelector: { matchLabels: { team: 'red' } } },
    namespaces: { required: { labels: { env: {} } } },
    rbac: { allowedRoleRefs: ['ClusterRole/view', 'ClusterRole/edit'] },
    secrets: { forbiddenTypes: ['Opaque'] },
    contents: {
      roleBindings: [
        roleBinding('developers', 'red', 'edit'),
        { ...roleBinding('on-call', 'on-call', 'view'), expiresAt: '2100-01-01T00:00:00Z' },
      ],
      resources: [configMap("settings-${namespaceObject.metadata.labels['env']}", { a: 'b' })],
    },
    exceptions: [
      {
        namespaces: ['team-a'],
        rules: ['namespaces.name'],
        expiresAt: '2100-01-01T00:00:00Z',
        reason: 'SEC-1',
      },
    ],
  }),
  share('missing', { source: { namespace: 'reeve-shared', name: 'missing' }, targets: { names: ['other'] } }),
];

describeControllers('a report on a cluster', () => {
  let plane: ControlPlane;
  let reeve: Reeve;
  let stage: Stage;

  beforeAll(async () => {
    plane = await startControlPlane();
    stage = new Stage(plane, 'team-');
    await installReeve(plane);
    reeve = await startReeve(plane);
    await stage.apply(...objects);
  });
  afterAll(async () => {
    await reeve.stop();
    await plane.stop();
  });

  async function report(args: readonly string[], kubeconfig = plane.kubeconfig): Promise<Output> {
    return await runCommand(['report', ...args, `--kubeconfig=${kubeconfig}`]);
  }

  function entriesIn({ stdout }: Output): readonly string[] {
    const { entries } = JSON.parse(stdout) as ReportOutput;
    return entries.map(({ section, policy: id, namespace, object, reason, rule }) =>
      [section, id, namespace, `${object?.kind}/${object?.name}`, reason ?? rule].join(' '),
    );
  }

  /** The summary of each Report, by namespace. */
  async function summaries(): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await plane.admin.send('GET', `${reports}/reports`);
    const { items } = body as { items: { metadata: { namespace: string }; summary: object }[] };
    return Object.fromEntries(items.map(({ metadata, summary }) => [metadata.namespace, summary]));
  }

  async function servedReports(): Promise<void> {
    await stage.kubectl('apply', '-f', crd);
    await until(
      async () => (await plane.admin.send('GET', `${reports}/reports`)).status === 200,
      () => 'the kind Report is not served',
    );
  }

  /** Expects that the stored Reports are those that `reeve report` prints, apart from times and what the API server adds. */
  async function expectAgreement(): Promise<void> {
    const { body } = await plane.admin.send('GET', `${reports}/reports`);
    const printed = await report(['-o', 'openreports']);
    const [stored, wanted] = [body, JSON.parse(printed.stdout)].map((list) =>
      (list as { readonly items: readonly StoredObject[] }).items.map(
        ({ metadata: { name, namespace, labels }, ...rest }) =>
          JSON.parse(
            JSON.stringify({ ...rest, metadata: { name, namespace, labels } }),
            (key, value: unknown) => (key === 'timestamp' ? undefined : value),
          ) as unknown,
      ),
    );
    expect(stored).toEqual(wanted);
    expect((await report(['--write'])).stderr).toMatch(/^0 of 0 Reports written or deleted/m);
  }

  test('the report lists what the statuses count, and the existing Secrets only if it is asked to', async () => {
    await eventually(() => stage.condition(team)).toBe('False Conflicts');
    await eventually(() => stage.condition(copies)).toBe('False SourceMissing');
    await eventually(async () => (await stage.mustGet(team)).status).toMatchObject({
      violations: 2,
      conflicts: 1,
      failed: 0,
      skipped: 1,
    });
    const without = await report(['-o', 'json']);
    expect(without).toMatchObject({
      code: 0,
      stderr: 'existing Secrets were not judged; --secrets judges them\n',
    });
    const expected = [
      'violation NamespacePolicy/team team-a RoleBinding/admins rbac.allowedRoleRefs',
      'violation NamespacePolicy/team team-b Namespace/team-b namespaces.required',
      'conflict NamespacePolicy/team team-a RoleBinding/developers AlreadyExists',
      'blocked SecretShare/missing other Secret/missing SourceMissing',
      "skipped NamespacePolicy/team team-b ConfigMap/settings-${namespaceObject.metadata.labels['env']} ",
      'exception NamespacePolicy/team team-a undefined/undefined namespaces.name',
      'grant NamespacePolicy/team team-a RoleBinding/on-call ',
      'grant NamespacePolicy/team team-b RoleBinding/on-call ',
    ];
    expect(entriesIn(without)).toEqual(expected);
    const whole = await report(['-o', 'json', '--secrets']);
    expect(entriesIn(whole)).toEqual(
      expected.toSpliced(
        2,
        0,
        'violation NamespacePolicy/team team-b Secret/password secrets.forbiddenTypes',
      ),
    );
    for (const format of ['text', 'csv', 'html', 'openreports']) {
      const { code, stdout, stderr } = await report(['-o', format, '--secrets']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('secrets.forbiddenTypes'.split('.')[1]);
      expect(stdout).not.toContain('report-canary');
      expect(stdout).not.toContain(btoa('report-canary'));
    }
  });

  test('files replace objects of the cluster', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-report-'));
    onTestFinished(async () => await rm(folder, { recursive: true }));
    const mended = namespaceObject('team-b', { team: 'red', env: 'dev' });
    await writeFile(join(folder, 'team-b.yaml'), JSON.stringify(mended));
    const entries = entriesIn(await report(['-o', 'json', '-f', folder]));
    expect(entries.join('\n')).not.toMatch(/namespaces\.required|skipped/);
    expect(entries.join('\n')).toContain('conflict NamespacePolicy/team team-a RoleBinding/developers');
  });

  test('an account that may not read a kind gets the rest, exit code 1, and no problem that it cannot see', async () => {
    await stage.kubectl(
      'create',
      'clusterrole',
      'looks',
      '--verb=list',
      '--resource=namespaces,namespacepolicies.reeve.dev,rolebindings,deployments.apps',
    );
    await stage.kubectl('create', 'clusterrolebinding', 'looks', '--clusterrole=looks', '--user=looker');
    await mayDo(['list', 'namespaces'], 'yes', person(plane, 'looker'));
    const { code, stdout, stderr } = await report(['-o', 'json'], await plane.clientKubeconfig('looker'));
    expect(code).toBe(3);
    expect(stderr).toContain('Secret could not be read: this account may not read it\n');
    expect(JSON.parse(stdout)).toMatchObject({ complete: false });
    expect(entriesIn({ code, stdout, stderr })).toEqual([
      'violation NamespacePolicy/team team-a RoleBinding/admins rbac.allowedRoleRefs',
      'violation NamespacePolicy/team team-b Namespace/team-b namespaces.required',
      'conflict NamespacePolicy/team team-a RoleBinding/developers AlreadyExists',
      "skipped NamespacePolicy/team team-b ConfigMap/settings-${namespaceObject.metadata.labels['env']} ",
      'exception NamespacePolicy/team team-a undefined/undefined namespaces.name',
      'grant NamespacePolicy/team team-a RoleBinding/on-call ',
      'grant NamespacePolicy/team team-b RoleBinding/on-call ',
    ]);
  });

  test('Reports are written where their kind is served, follow the namespaces, and are left alone if they are right', async () => {
    const refused = await report(['--write']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'the API server does not serve Report of openreports.io/v1alpha1, so nothing was written\n',
    );
    await servedReports();
    expect(await report(['--write'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining(
        '3 of 3 Reports written or deleted; 0 were as they should be\n',
      ) as string,
    });
    expect(await summaries()).toEqual({
      other: { error: 1, fail: 0, pass: 0, skip: 0, warn: 0 },
      'team-a': { error: 0, fail: 1, pass: 1, skip: 1, warn: 1 },
      'team-b': { error: 0, fail: 0, pass: 1, skip: 1, warn: 1 },
    });
    expect((await report(['--write'])).stderr).toContain(
      '0 of 0 Reports written or deleted; 3 were as they should be\n',
    );
    await stage.kubectl('label', 'namespace', 'team-b', 'env=dev');
    await stage.kubectl('label', 'namespace', 'team-a', 'team-');
    await eventually(() =>
      stage.get({ kind: 'RoleBinding', namespace: 'team-a', name: 'on-call' }),
    ).toBeUndefined();
    await eventually(() =>
      stage.get({ kind: 'ConfigMap', namespace: 'team-b', name: 'settings-dev' }),
    ).toBeDefined();
    expect((await report(['--write'])).stderr).toContain(
      '2 of 2 Reports written or deleted; 1 were as they should be\n',
    );
    expect(await summaries()).toEqual({
      other: { error: 1, fail: 0, pass: 0, skip: 0, warn: 0 },
      'team-b': { error: 0, fail: 0, pass: 1, skip: 0, warn: 0 },
    });
  });

  test('a Report of another program, and a right that is missing, are named, and the other Reports are written', async () => {
    await stage.kubectl('delete', 'reports', '-A', '--all');
    await plane.admin.mustSend('POST', `${reports}/namespaces/other/reports`, foreign);
    const { code, stderr } = await report(['--write']);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'Report other/reeve was not written: another program wrote a Report of this name\n1 of 2 Reports written',
    );
    expect(Object.keys(await summaries())).toEqual(['other', 'team-b']);
    const unable = await report(['--write'], await plane.clientKubeconfig('looker'));
    expect(unable.stderr).toContain(
      'Reports could not be listed: this account may not read it, so nothing was written\n',
    );
  });

  test('with --reports the reconciler keeps the Reports that `reeve report` prints, as soon as their kind is served', async () => {
    await stage.kubectl('delete', 'crd', 'reports.openreports.io');
    await stage.kubectl('apply', '-f', 'manifests/reports');
    await reeve.stop();
    reeve = await startReeve(plane, { args: ['--reports'] });
    await eventually(() => reeve.output).toMatch(
      /kind not served.*"kind":"Report"|"kind":"Report".*kind not served/,
    );
    await servedReports();
    const others = { other: { error: 1, fail: 0, pass: 0, skip: 0, warn: 0 } };
    const good = { error: 0, fail: 0, pass: 1, skip: 0, warn: 0 };
    // A Report can be older than the last change of its namespace.
    await inTime(summaries).toEqual({ ...others, 'team-b': good });

    await stage.kubectl('label', 'namespace', 'team-b', 'env-');
    await eventually(summaries).toEqual({ ...others, 'team-b': { ...good, skip: 1, warn: 1 } });
    await expectAgreement();
    await stage.kubectl('label', 'namespace', 'team-b', 'env=dev');
    await eventually(summaries).toEqual({ ...others, 'team-b': good });

    const admins = {
      ...binding('admins', 'cluster-admin'),
      metadata: { name: 'admins', namespace: 'team-b' },
    };
    await stage.apply(admins);
    await eventually(summaries).toEqual({ ...others, 'team-b': { ...good, warn: 1 } });
    await expectAgreement();
    await stage.kubectl('delete', 'rolebinding', 'admins', '-n', 'team-b');
    await eventually(summaries).toEqual({ ...others, 'team-b': good });

    await stage.kubectl('delete', 'report', 'reeve', '-n', 'team-b');
    await stage.remove(copies);
    await eventually(summaries).toEqual({ 'team-b': good });
    expect(await reeve.metric('reeve_reconcile_own_writes_total{what="report"}')).toBeGreaterThanOrEqual(8);
    expect(reeve.output).not.toContain('report not written');
  });

  test('the reconciler leaves the Reports of other programs alone, and the jail lets its account write no other', async () => {
    const { kubeconfig } = plane;
    await plane.admin.mustSend('POST', `${reports}/namespaces/other/reports`, foreign);
    await stage.apply(
      share(copies.name, {
        source: { namespace: 'reeve-shared', name: 'missing' },
        targets: { names: ['other'] },
      }),
    );
    await eventually(() => reeve.output).toMatch(
      /report not written.*AlreadyExists|AlreadyExists.*report not written/,
    );
    expect(await stage.kubectl('get', 'report', 'reeve', '-n', 'other', '-o=jsonpath={.source}')).toBe(
      'scanner',
    );

    const account = await plane.tokenKubeconfig(reeveNamespace, 'reeve-reconciler');
    const attempt = async (name: string, labels: object, namespace = 'team-a'): Promise<string> => {
      const input = JSON.stringify({ ...foreign, metadata: { name, namespace, labels } });
      const args = [
        'apply',
        '--server-side',
        '--field-manager=reeve',
        '--validate=false',
        '--dry-run=server',
        '-f',
        '-',
      ];
      return (await kubectl(args, { kubeconfig: account, input })).stderr;
    };
    const own = { 'reeve.dev/report': 'true' };
    expect(await attempt('reeve', own)).toBe('');
    expect(await attempt('theirs', own)).toContain('reports.openreports.io "theirs" is forbidden');
    for (const [labels, namespace] of [
      [{}, 'team-a'],
      [own, 'other'],
    ] as const)
      expect(await attempt('reeve', labels, namespace)).toContain('labeled reeve.dev/report=true');
    expect(await attempt('reeve', { ...own, 'app.kubernetes.io/managed-by': 'reeve' })).toContain(
      'Reeve marks what',
    );
    expect(await attempt('reeve', own, 'kube-system')).toContain(
      'Reeve keeps out of the namespace kube-system',
    );

    // The flag without its right: one line of the log, and the rest of Reeve works.
    await mustKubectl(['delete', '-f', 'manifests/reports'], { kubeconfig });
    const flag = [{ op: 'add', path: '/spec/template/spec/containers/0/args/-', value: '--reports=true' }];
    const deployment = ['deployment', 'reeve-reconciler', '-n', reeveNamespace];
    await stage.kubectl('patch', ...deployment, '--type=json', '-p', JSON.stringify(flag));
    await using check = new ReeveProcess(['check', `--kubeconfig=${kubeconfig}`]);
    expect((await check.ended()).stdout).toMatch(
      /rights of the reconciler: \S+ lacks list reports reeve, .*: apply manifests\/reports\/27-reconciler-reports\.yaml/,
    );
    await stage.kubectl('delete', 'reports', '-A', '--all');
    await eventually(() => reeve.output).toMatch(
      /report not written.*InsufficientPermissions|InsufficientPermissions.*report not written/,
    );
    await stage.kubectl('label', 'namespace', 'team-a', 'team=red');
    await eventually(() =>
      stage.get({ kind: 'RoleBinding', namespace: 'team-a', name: 'on-call' }),
    ).toBeDefined();
  });
});
