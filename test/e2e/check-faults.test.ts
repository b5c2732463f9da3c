// What `reeve check` says to an administrator and to Reeve's own accounts when parts of an install break.
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { roleKubeconfig } from '../cluster/reeve-rights.ts';
import { eventually } from '../support/eventually.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import type { Output } from '../support/serve-process.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { reportAvailable } from './support/available-deployments.ts';
import { runCommand } from './support/command.ts';
import { applyText, fileWith, mayDo } from './support/install-roles.ts';
import { share, source } from './support/objects.ts';
import { person } from './support/people.ts';
import { reconcilerUser, Stage } from './support/stage.ts';

describeCluster('a check of an install with faults', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, 'ck-');
  const rolesFile = 'manifests/install/20-reconciler.yaml';
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    await reportAvailable(cluster);
  });
  afterAll(async () => {
    await applyText(await readFile(rolesFile, 'utf8'), cluster);
    await stage.cleanUp();
    await reeve.stop();
  });

  async function check(kubeconfig: string, ...flags: readonly string[]): Promise<Output> {
    return await runCommand(['check', `--kubeconfig=${kubeconfig}`, ...flags]);
  }
  const byAdministrator = async (...flags: readonly string[]) => await check(cluster.kubeconfig, ...flags);

  it('an administrator sees every part of an install that works, and that no Pod runs', async () => {
    const { code, stdout, stderr } = await byAdministrator('--wait', '30s');
    expect(stdout).not.toContain('problem');
    expect(stdout.match(/^unseen: .*$/gm)).toEqual([
      expect.stringContaining('unseen: Pods: no Pod of Reeve'),
    ]);
    expect(stdout).toContain('ok: webhook\n');
    expect(stdout).toContain('ok: rights of the reconciler\n');
    expect(stdout.endsWith('Reeve works, apart from what is unseen.\n')).toBe(true);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { stdout: json } = await byAdministrator('-o', 'json');
    expect(JSON.parse(json)).toMatchObject({
      works: true,
      parts: [{ part: 'API server', problems: [], unseen: [] }, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}],
    });
  });

  it.each(['webhook', 'reconciler'] as const)(
    'the account of the %s sees its own rights, and no problem',
    async (role) => {
      const { code, stdout } = await check(await roleKubeconfig(cluster, role));
      expect(stdout).toContain(`ok: rights of the ${role}\n`);
      expect(stdout).not.toContain('problem');
      expect(stdout).toContain('Reeve works, apart from what is unseen.');
      expect(code).toBe(0);
    },
  );

  it('a share that is not ready is named, and --wait ends once it is ready', async () => {
    const waits = share('ck-waits', {
      source: { namespace: 'reeve-shared', name: 'ck-source' },
      targets: { names: ['ck-ns'] },
    });
    await stage.applyInEmergency(waits);
    await eventually(async () => (await byAdministrator()).stdout).toContain(
      'problem: policies, shares and bindings: SecretShare ck-waits is not ready (SourceMissing)',
    );
    expect((await byAdministrator()).code).toBe(1);
    const waiting = byAdministrator('--wait', '60s');
    await stage.applyInEmergency(source('ck-source', { a: 'b' }));
    expect(await waiting).toMatchObject({ code: 0 });
  });

  it('a right that the install should give is named, with the file to apply', async () => {
    await applyText(await fileWith(rolesFile, 'reeve-reconciler', []), cluster);
    await mayDo(['patch', 'namespaces'], 'no', person(cluster, reconcilerUser));
    const { code, stdout } = await byAdministrator();
    expect(stdout).toMatch(
      /problem: rights of the reconciler: \S+ lacks get namespaces, .* and \d+ more: apply manifests\/install/,
    );
    expect(stdout).toContain(
      '\n  - apiGroups: [""]\n    resources: ["namespaces"]\n    verbs: ["get", "list", "watch", "patch"]\n',
    );
    expect(code).toBe(1);
    await applyText(await readFile(rolesFile, 'utf8'), cluster);
    await mayDo(['patch', 'namespaces'], 'yes', person(cluster, reconcilerUser));
  });

  it('a policy of others that refuses the dry run leaves unseen whether the webhook answers', async () => {
    const rule = {
      apiGroups: ['reeve.dev'],
      apiVersions: ['*'],
      resources: ['securityintentbindings'],
      operations: ['CREATE'],
    };
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'ck-strict' },
      // Other tests write bindings in this cluster.
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'object.metadata.name != "reeve-check"' }],
      },
    };
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'ck-strict' },
      spec: { policyName: 'ck-strict', validationActions: ['Deny'] },
    };
    const { kubeconfig } = cluster;
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [policy, binding] });
    await mustKubectl(['create', '-f', '-'], { kubeconfig, input });
    try {
      await eventually(async () => (await byAdministrator()).stdout).toContain(
        'unseen: webhook: ck-strict refuses the dry run\n',
      );
    } finally {
      for (const { kind } of [binding, policy]) await mustKubectl(['delete', kind, 'ck-strict'], cluster);
    }
    // The API server asks a policy for a moment after it is deleted.
    await eventually(async () => (await byAdministrator()).stdout).toContain('ok: webhook\n');
  });

  it('an API server that does not answer is the only problem', async () => {
    const elsewhere = `${cluster.kubeconfig}.elsewhere`;
    const kubeconfig = await readFile(cluster.kubeconfig, 'utf8');
    await writeFile(elsewhere, kubeconfig.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9'));
    expect(await check(elsewhere)).toMatchObject({
      code: 3,
      stdout:
        'problem: API server: the API server did not answer (ECONNREFUSED)\nReeve does not work completely: API server (see above).\n',
    });
  });

  it('a webhook that has ended is a problem of the webhook and of its Lease', async () => {
    await reeve.stop();
    const { code, stdout } = await byAdministrator();
    expect(stdout).toMatch(
      /problem: webhook: the API server cannot ask the webhook .*: see the log of the webhook/,
    );
    expect(stdout).toContain('problem: Leases: no replica holds Lease reeve-');
    expect(code).toBe(1);
  });

  it('a configuration that others changed is a problem while no webhook repairs it', async () => {
    const change = [{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 29 }];
    const patch = [
      'patch',
      'validatingwebhookconfiguration',
      'reeve',
      '--type=json',
      '-p',
      JSON.stringify(change),
    ];
    await mustKubectl(patch, cluster);
    expect((await byAdministrator()).stdout).toContain(
      'problem: webhook configurations: ValidatingWebhookConfiguration reeve was changed by others',
    );
    reeve = await startReeve(cluster);
    await eventually(async () => (await byAdministrator()).stdout).toContain('ok: webhook configurations\n');
  });
});
