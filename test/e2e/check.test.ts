// `reeve check` on a real API server, with the account that `helm test` gives it: what works, what does not, and its rights.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { annotationOf, renderChart } from '../checks/chart/rendered-chart.ts';
import { neededHelm } from '../chart/helm-versions.ts';
import { installReeve, reeveNamespace } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { ReeveProcess, type Output } from '../support/serve-process.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { reportAvailable } from './support/available-deployments.ts';

const parts = ['kinds', 'guard and jail', 'Deployments', 'Leases', 'webhook configurations'];
const works = [
  ...['API server', 'kinds', 'guard and jail'].map((part) => `ok: ${part}`),
  ...['webhook', 'reconciler'].map((role) => `unseen: rights of the ${role}: this account may not ask`),
  ...['Deployments', 'Leases', 'webhook configurations'].map((part) => `ok: ${part}`),
  'unseen: webhook: this account may not create namespacepolicies',
  'ok: policies, shares and bindings',
  'Reeve works, as far as this account may look.',
];

describeControllers('a check', () => {
  const cluster = sharedCluster();
  const { kubeconfig } = cluster;
  let reeve: Reeve;
  let args: readonly string[];

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    await reportAvailable(cluster);
    const { hooks } = await renderChart(await neededHelm(4));
    const items = hooks
      .map(({ object }) => object)
      .filter((object) => annotationOf(object, 'helm.sh/hook') === 'test');
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input });
    const read = [
      'get',
      'pod',
      'reeve-check',
      '-n',
      reeveNamespace,
      '-o=jsonpath={.spec.containers[0].args}',
    ];
    args = JSON.parse(await mustKubectl(read, cluster)) as readonly string[];
  });

  afterAll(async () => {
    await reeve.stop();
    const own = ['pod', 'serviceaccount', 'role', 'rolebinding', 'clusterrole', 'clusterrolebinding'];
    for (const kind of own)
      await mustKubectl(
        ['delete', kind, 'reeve-check', '-n', reeveNamespace, '--ignore-not-found', '--now'],
        cluster,
      );
    await mustKubectl(['apply', '-f', 'manifests/install/40-guard.yaml'], cluster);
  });

  async function check(...flags: readonly string[]): Promise<Output> {
    const account = await cluster.tokenKubeconfig(reeveNamespace, 'reeve-check');
    await using process = new ReeveProcess([...flags, `--kubeconfig=${account}`]);
    return await process.ended();
  }

  it('a check with the arguments of helm test waits until everything works', async () => {
    expect(await check(...args)).toMatchObject({ code: 0, stdout: `${works.join('\n')}\n`, stderr: '' });
  });

  it('policies in files are checked with the namespaces, roles and flags of the cluster', async () => {
    const policy = 'test/fixtures/checks/on-cluster/policy.yaml';
    await mustKubectl(['create', 'namespace', 'check-red'], cluster);
    await mustKubectl(['label', 'namespace', 'check-red', 'check-team=orange'], cluster);
    await using process = new ReeveProcess(['check', '-f', policy, '--kubeconfig', kubeconfig]);
    const { code, stdout, stderr } = await process.ended();
    await mustKubectl(['delete', 'namespace', 'check-red', '--wait=false'], cluster);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    await expect(stdout).toMatchFileSnapshot('../fixtures/checks/on-cluster/expected.text');
  });

  it('a guard that no longer denies is a problem, and the check says what to do', async () => {
    await mustKubectl(['delete', 'validatingadmissionpolicybinding', 'reeve-guard'], cluster);
    const { code, stdout } = await check('check');
    expect(code).toBe(1);
    expect(stdout).toContain(
      'problem: guard and jail: reeve-guard with binding reeve-guard is missing or does not deny',
    );
    expect(stdout).toContain('Reeve does not work completely: see above.');
  });

  it('an account without rights has not seen Reeve work, and learns which rights it lacks', async () => {
    const nothing = await cluster.clientKubeconfig('without-rights');
    await using process = new ReeveProcess(['check', `--kubeconfig=${nothing}`]);
    const { code, stdout } = await process.ended();
    expect(code).toBe(1);
    for (const part of parts) expect(stdout).toContain(`unseen: ${part}: this account may not `);
  });
});
