// `reeve check` on a real API server, with the account that `helm test` gives it: what works, what does not, and its rights.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installReeve, reeveNamespace } from '../cluster/reeve-install.ts';
import type { CheckResults } from '../../src/inspect/output-schemas/check-results.ts';
import { eventually } from '../support/eventually.ts';
import { createHelmTestAccount, type HelmTestAccount } from '../support/helm-test-account.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { ReeveProcess, type Output } from '../support/serve-process.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { reportAvailable } from './support/available-deployments.ts';

const parts = ['kinds', 'guard and jail', 'Deployments', 'Pods', 'Leases', 'webhook configurations'];
const noPods =
  'unseen: Pods: no Pod of Reeve runs in namespace reeve-system, so nothing reports certificates and watches';
const works = [
  ...['API server', 'kinds', 'guard and jail'].map((part) => `ok: ${part}`),
  ...['webhook', 'reconciler'].map(
    (role) => `unseen: rights of the ${role}: this account may not create subjectaccessreviews`,
  ),
  'ok: Deployments',
  noPods,
  ...['Leases', 'webhook configurations'].map((part) => `ok: ${part}`),
  'ok: webhook',
  'ok: policies, shares and bindings',
  'Reeve works, apart from what is unseen.',
];

/** Returns the lines without the details and the rules below them. */
function statesIn(stdout: string): readonly string[] {
  return stdout.split('\n').filter((line) => line !== '' && !line.startsWith(' '));
}

describeControllers('a check', () => {
  const cluster = sharedCluster();
  const { kubeconfig } = cluster;
  let reeve: Reeve;
  let account: HelmTestAccount;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    await reportAvailable(cluster);
    account = await createHelmTestAccount(cluster);
  });

  afterAll(async () => {
    await reeve.stop();
    await account.remove();
    await mustKubectl(['apply', '-f', 'manifests/install/40-guard.yaml'], cluster);
  });

  async function check(...flags: readonly string[]): Promise<Output> {
    await using process = new ReeveProcess([...flags, `--kubeconfig=${account.kubeconfig}`]);
    return await process.ended();
  }

  it('a check with the arguments of helm test waits until everything works', async () => {
    const { code, stdout, stderr } = await check(...account.args);
    expect(statesIn(stdout)).toEqual(works);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
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

  it('a stored policy that costs too much is named with its cost, also where its match is false', async () => {
    const expression = '!lists.range(210).all(x, lists.range(210).all(y, x + y >= 0))';
    const spec = { match: { names: ['default'], matchConditions: [{ name: 'c', expression }] } };
    const policy = {
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'NamespacePolicy',
      metadata: { name: 'dear' },
      spec,
    };
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input: JSON.stringify(policy) });
    try {
      await eventually(async () => (await check('check')).stdout).toMatch(
        /^ok: policies, shares and bindings\n  NamespacePolicy dear: this policy costs 44\d,\d{3} units in namespace default, /m,
      );
      expect((await check('check')).code).toBe(0);
    } finally {
      await mustKubectl(['delete', 'nspol', 'dear'], cluster);
    }
  });

  it('a guard that no longer denies is a problem, and the check says what to do', async () => {
    await mustKubectl(['delete', 'validatingadmissionpolicybinding', 'reeve-guard'], cluster);
    const { code, stdout } = await check('check');
    expect(code).toBe(1);
    expect(stdout).toContain(
      'problem: guard and jail: reeve-guard with binding reeve-guard is missing or does not deny',
    );
    expect(stdout).toContain('Reeve does not work completely: guard and jail (see above).');
  });

  it('an account without rights has not seen Reeve work, and sees all parts once it has the rules that are printed', async () => {
    const nothing = await cluster.clientKubeconfig('without-rights');
    const asked = async (...flags: readonly string[]): Promise<Output> => {
      await using process = new ReeveProcess(['check', `--kubeconfig=${nothing}`, ...flags]);
      return await process.ended();
    };
    const { code, stdout } = await asked();
    expect(code).toBe(3);
    for (const part of parts) expect(stdout).toContain(`unseen: ${part}: this account may not `);
    const { parts: found } = JSON.parse((await asked('-o', 'json')).stdout) as CheckResults;
    const rules = (found ?? []).flatMap(({ missingRules }) => missingRules);
    const items = [
      ...rolesWith(rules.filter(({ namespace }) => namespace === undefined)),
      ...rolesWith(
        rules.filter(({ namespace }) => namespace !== undefined),
        reeveNamespace,
      ),
    ];
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await mustKubectl(['apply', '-f', '-'], { kubeconfig, input });
    await mustKubectl(['apply', '-f', 'manifests/install/40-guard.yaml'], cluster);
    try {
      await eventually(async () => statesIn((await asked()).stdout)).toEqual([
        ...works.slice(0, 3),
        ...['rights of the webhook', 'rights of the reconciler', 'Deployments'].map((part) => `ok: ${part}`),
        noPods,
        ...['Leases', 'webhook configurations', 'webhook'].map((part) => `ok: ${part}`),
        ...works.slice(-2),
      ]);
    } finally {
      await mustKubectl(['delete', '-f', '-'], { kubeconfig, input });
    }
  });
});

/** A role with these rules for the account, and its binding. */
function rolesWith(
  missing: NonNullable<CheckResults['parts']>[number]['missingRules'],
  namespace?: string,
): readonly object[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const prefix = namespace === undefined ? 'Cluster' : '';
  const metadata = { name: 'check-printed', ...(namespace === undefined ? {} : { namespace }) };
  const roleRef = { apiGroup, kind: `${prefix}Role`, name: metadata.name };
  const rules = missing.map(({ rule }) => rule);
  return [
    { apiVersion, kind: roleRef.kind, metadata, rules },
    {
      apiVersion,
      kind: `${prefix}RoleBinding`,
      metadata,
      roleRef,
      subjects: [{ apiGroup, kind: 'User', name: 'without-rights' }],
    },
  ];
}
