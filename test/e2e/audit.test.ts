// Existing Roles, RoleBindings and Secrets that violate a policy are counted by resource, with the rights of the install.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, policy, type WrittenObject } from './support/objects.ts';
import { secret } from './support/secrets.ts';
import { Stage } from './support/stage.ts';

const group = 'rbac.authorization.k8s.io';
const named = 'manifests/named-secrets/22-reconciler-secrets.yaml';
const all = 'manifests/install/22-reconciler-secrets.yaml';
const audit = 'manifests/audit-secrets/26-reconciler-audit-secrets.yaml';
const match = { names: ['sh-au-*'] };
const ref = { kind: 'NamespacePolicy', name: 'sh-au-policy' } as const;

const binding = (role: string): WrittenObject => ({
  apiVersion: `${group}/v1`,
  kind: 'RoleBinding',
  metadata: { name: `grants-${role}`, namespace: 'sh-au-a' },
  roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: group, kind: 'Group', name: 'sh-au-nobody' }],
});
const role = (verb: string): WrittenObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Role',
  metadata: { name: 'everything', namespace: 'sh-au-b' },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: [verb] }],
});

describeCluster('the audit of existing objects', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, 'sh-au-');
  let reeve: Reeve;

  const statusOf = async () => (await stage.mustGet(ref)).status;
  const messageOf = async () => (await statusOf())?.conditions?.find(({ type }) => type === 'Ready')?.message;
  const restart = async (...args: readonly string[]): Promise<void> => {
    await reeve.stop();
    reeve = await startReeve(cluster, { args });
  };

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    await stage.apply(
      ...['sh-au-a', 'sh-au-b'].map((name) => namespaceObject(name)),
      binding('cluster-admin'),
      binding('view'),
      role('*'),
      secret({ name: 'plain', namespace: 'sh-au-a' }, { password: 'sh-au-value' }),
    );
  });
  afterAll(async () => {
    await stage.kubectl('delete', '-f', audit, '--ignore-not-found');
    await stage.cleanUp();
    await installReeve(cluster);
    await reeve.stop();
  });

  test('existing Roles and RoleBindings are counted by resource, also those written later', async () => {
    const rbac = { allowedRoleRefs: ['ClusterRole/view'], forbidWildcardRules: true };
    const secrets = { forbiddenTypes: ['Opaque'] };
    await stage.apply(policy(ref.name, { match, validationActions: ['Audit'], rbac, secrets }));
    await eventually(statusOf).toMatchObject({
      violations: 2,
      violationsByResource: { namespaces: 0, roles: 1, roleBindings: 1 },
      topViolations: [
        { namespace: 'sh-au-a', kind: 'RoleBinding', name: 'grants-cluster-admin' },
        { namespace: 'sh-au-b', kind: 'Role', name: 'everything' },
      ],
    });
    expect(await messageOf()).toMatch(
      /^2 violations, first RoleBinding grants-cluster-admin in namespace sh-au-a: .*; Secrets: judged when written$/,
    );
    const labels = `kind="NamespacePolicy",name="${ref.name}",resource="roleBindings"`;
    expect(await reeve.metric(`reeve_provider_violations{${labels}}`)).toBe(1);
    await stage.apply(binding('edit'), role('get'));
    await eventually(statusOf).toMatchObject({
      violationsByResource: { namespaces: 0, roles: 0, roleBindings: 2 },
    });
    await stage.kubectl('delete', 'rolebinding', '-n', 'sh-au-a', 'grants-edit', 'grants-cluster-admin');
    await eventually(statusOf).toMatchObject({
      violations: 0,
      violationsByResource: { namespaces: 0, roles: 0, roleBindings: 0 },
    });
  });

  test('Secrets are counted with --audit-secrets; without the right to list them the status names it', async () => {
    await stage.kubectl('delete', '-f', all);
    await stage.kubectl('apply', '-f', named);
    await restart('--audit-secrets', '--secret-name=regcred');
    await inTime(() => stage.condition(ref)).toBe('False InsufficientPermissions');
    expect(await messageOf()).toContain(audit);
    await stage.kubectl('apply', '-f', audit);
    // A list that was refused waits for up to 30 s before it asks again.
    await inTime(() => stage.condition(ref)).toBe('True Synced');
    await inTime(statusOf).toMatchObject({
      violations: 1,
      violationsByResource: { namespaces: 0, roles: 0, roleBindings: 0, secrets: 1 },
      topViolations: [
        { namespace: 'sh-au-a', kind: 'Secret', name: 'plain', rule: 'secrets.forbiddenTypes' },
      ],
    });
    expect(reeve.output).not.toContain('sh-au-value');
    expect(JSON.stringify(await stage.mustGet(ref))).not.toContain(btoa('sh-au-value'));
  });
});
