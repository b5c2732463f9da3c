// Break-glass: which users may bypass the webhooks and the guard, with exactly which rights, and what the audit log records.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { kubectl, mustKubectl, type KubectlOptions } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { guardSays, makeKept } from './guard-scene.ts';
import { owner } from './guarded-objects.ts';
import { cleanUp } from './support/clean-up.ts';
import { createNamespace, deleteNamespace, labelNamespace } from './support/namespace-commands.ts';
import { configMap, policy } from './support/objects.ts';
import { grant } from './support/people.ts';
import { applyPolicies } from './support/policies.ts';
import { reconcilerUser } from './support/stage.ts';
import type { Command } from './support/attempt.ts';
import { file } from './support/ways-to-write.ts';

const admins = 'bg-platform-admins';
const operators = 'bg-operators';
const emergencyGroup = 'reeve:break-glass';
const contents = { resources: [configMap('settings', {})] };

const policies = [
  policy('bg-locked', { match: { names: ['bg-locked*'] }, namespaces: { deletion: { protect: true } } }),
  policy('bg-fixed', { match: { names: ['bg-*'] }, namespaces: { immutable: { labels: ['bg-team'] } } }),
  policy('bg-team', { match: { namespaceSelector: { matchLabels: { 'bg-tier': 'team' } } }, contents }),
  policy('bg-fuse', { match: { names: ['bg-home'] }, contents, maxDeletions: 0 }),
];

/** Writes that RBAC allows both users and Reeve refuses. */
const refusals: readonly { readonly what: string; readonly command: Command; readonly says: string }[] = [
  {
    what: 'change a managed object',
    command: { args: ['label', 'configmap', 'kept', '-n', 'bg-home', 'touched=yes'] },
    says: `${guardSays}Reeve keeps ConfigMap kept for ${owner}`,
  },
  {
    what: 'delete a managed object',
    command: { args: ['delete', 'configmap', 'kept', '-n', 'bg-home'] },
    says: `${guardSays}Reeve keeps ConfigMap kept for ${owner}`,
  },
  {
    what: 'delete a protected Namespace',
    command: deleteNamespace('bg-locked'),
    says: 'policy bg-locked, namespaces.deletion:',
  },
  {
    what: 'change what is immutable',
    command: labelNamespace('bg-home', 'bg-team=other'),
    says: 'policy bg-fixed, namespaces.immutable:',
  },
  {
    what: 'blow the fuse',
    command: { args: ['delete', 'nspol', 'bg-fuse', '--wait=false'] },
    says: 'this write would delete up to 1 object in 1 namespace',
  },
];
const steering = labelNamespace('bg-home', 'bg-tier=team');

describeControllers('breaking the glass', () => {
  const cluster = sharedCluster();
  const audit = cluster.auditLog();
  let reeve: Reeve;
  /** Both users have client certificates. All their rights come from the group in the certificate. */
  let ann: KubectlOptions;
  let bob: KubectlOptions;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook' });
    ann = { kubeconfig: await cluster.clientKubeconfig('bg-ann', [admins]) };
    bob = { kubeconfig: await cluster.clientKubeconfig('bg-bob', [operators]) };
    const binding = ['create', 'clusterrolebinding', 'bg-admins', '--clusterrole=cluster-admin'];
    await mustKubectl([...binding, `--group=${admins}`], cluster);
    const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
    const work = [
      { apiGroups: [''], resources: ['namespaces', 'configmaps'], verbs },
      { apiGroups: ['reeve.dev'], resources: ['namespacepolicies'], verbs },
    ];
    await grant(cluster, { name: 'bg-work', rules: work, groups: [operators] });
    for (const name of ['bg-home', 'bg-locked']) await mustKubectl(['create', 'namespace', name], cluster);
    await mustKubectl(['label', 'namespace', 'bg-home', 'bg-team=shop'], cluster);
    await makeKept(cluster, 'bg-home');
    await applyPolicies('bg-', policies, cluster);
    await until(
      async () => (await kubectl(['get', 'nspol'], bob)).code === 0,
      () => 'the rights are known',
    );
  });
  afterAll(async () => {
    await cleanUp(cluster, 'bg-');
    await reeve.stop();
  });

  const dry = async ({ args, input = '' }: Command, who: KubectlOptions) =>
    await kubectl([...args, '--dry-run=server'], { ...who, input });

  describe.each([
    { who: 'a cluster-admin', someone: () => ann },
    { who: 'an operator', someone: () => bob },
  ])('without it, $who cannot', { concurrent: true }, ({ someone }) => {
    it.each(refusals)('$what', async ({ command, says }) => {
      const { code, stderr } = await dry(command, someone());
      expect(code).toBe(1);
      expect(stderr).toContain(says);
    });
  });

  it('without break-glass an operator cannot steer, and a user with all rights may use every policy', async () => {
    const { stderr } = await dry(steering, bob);
    expect(stderr).toContain(
      'label bg-tier=team would bring namespace bg-home under NamespacePolicy bg-team, and user "bg-bob" may not do that',
    );
    expect(await dry(steering, ann)).toMatchObject({ code: 0, stderr: '' });
  });

  it('with break-glass a cluster-admin passes, and the audit log names the user and the emergency group', async () => {
    const inEmergency = { ...ann, as: 'bg-ann', asGroup: [admins, emergencyGroup] };
    for (const { command } of refusals)
      expect(await dry(command, inEmergency)).toMatchObject({ code: 0, stderr: '' });
    await mustKubectl(['label', 'configmap', 'kept', '-n', 'bg-home', 'touched=yes'], inEmergency);
    const record = (await audit.records()).findLast(
      ({ verb, resource, name, isDryRun }) =>
        verb === 'patch' && resource === 'configmaps' && name === 'kept' && !isDryRun,
    );
    expect(record).toMatchObject({ status: 200, authenticatedAs: 'bg-ann', user: 'bg-ann', changes: 1 });
    expect(record?.groups).toEqual(expect.arrayContaining([admins, emergencyGroup]));
  });

  describe('an operator needs', () => {
    const inEmergency = (...asGroup: readonly string[]): KubectlOptions => ({
      ...bob,
      as: 'bg-bob',
      asGroup,
    });
    const deletion = { args: ['delete', 'configmap', 'kept', '-n', 'bg-home'] };
    const isKnown = async (resource: string, name: string): Promise<void> => {
      const question = ['auth', 'can-i', 'impersonate', `${resource}/${name}`];
      await until(
        async () => (await kubectl(question, bob)).stdout.trim() === 'yes',
        () => `the right to impersonate ${resource} ${name} is known`,
      );
    };
    const impersonate = async (resource: string, name: string): Promise<void> => {
      const rules = [
        { apiGroups: [''], resources: [resource], resourceNames: [name], verbs: ['impersonate'] },
      ];
      await grant(cluster, { name: `bg-${resource}`, rules, groups: [operators] });
      await isKnown(resource, name);
    };
    /** Messages about other missing rights look the same, but name those rights: https://kep.k8s.io/5284 */
    const cannot = /User "bg-bob" cannot impersonate/;

    it('an operator needs to impersonate only himself, his group and the emergency group', async () => {
      const attempt = async () => await dry(deletion, inEmergency(operators, emergencyGroup));
      expect((await attempt()).stderr).toMatch(cannot);
      await impersonate('users', 'bg-bob');
      expect((await attempt()).stderr).toMatch(cannot);
      await impersonate('groups', operators);
      expect((await attempt()).stderr).toMatch(cannot);
      const role = ['--clusterrole=reeve-break-glass', `--group=${operators}`];
      await mustKubectl(['create', 'clusterrolebinding', 'bg-break-glass', ...role], cluster);
      await isKnown('groups', emergencyGroup);
      for (const { command } of [...refusals, { command: steering }])
        expect(await dry(command, inEmergency(operators, emergencyGroup))).toMatchObject({ code: 0 });
    });

    it('the emergency group gives no right of its own, so an operator must name his group too', async () => {
      expect((await dry(deletion, inEmergency(emergencyGroup))).stderr).toContain(
        'User "bg-bob" cannot delete resource "configmaps"',
      );
    });

    it('the break-glass role does not let an operator impersonate another user', async () => {
      for (const who of [
        { ...inEmergency(operators, emergencyGroup), as: 'bg-ann' },
        inEmergency(admins, emergencyGroup),
        { ...inEmergency(operators), as: reconcilerUser },
      ])
        expect((await dry(deletion, who)).stderr).toMatch(cannot);
    });
  });

  it('while no webhook answers, break-glass writes namespaces and policies', async () => {
    await reeve.stop();
    const inEmergency = { ...ann, as: 'bg-ann', asGroup: [admins, emergencyGroup] };
    const writes = [
      createNamespace('bg-outage'),
      labelNamespace('bg-home', 'x=y'),
      deleteNamespace('bg-home'),
      file(['create'], policy('bg-outage', { match: { names: ['bg-nobody'] } })),
      { args: ['delete', 'nspol', 'bg-fuse', '--wait=false'] },
    ];
    for (const write of writes) {
      expect((await dry(write, ann)).stderr).toContain('failed calling webhook');
      expect(await dry(write, inEmergency)).toMatchObject({ code: 0, stderr: '' });
    }
    // The guard needs no webhook, so it still refuses the change.
    const change = { args: ['label', 'configmap', 'kept', '-n', 'bg-home', 'again=yes'] };
    expect((await dry(change, ann)).stderr).toContain(guardSays);
    expect(await dry(change, inEmergency)).toMatchObject({ code: 0 });
  });
});
