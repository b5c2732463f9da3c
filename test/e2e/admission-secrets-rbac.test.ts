// The rules on Secrets, Roles and RoleBindings with kubectl, by the administrator of one namespace: one case for each path.
// All rules and texts are in test/fixtures/admission.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { allowed, dryRun, must, refused } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import { createNamespace } from './support/namespace-commands.ts';
import { policy, type WrittenObject } from './support/objects.ts';
import { emergency, person } from './support/people.ts';
import { applyPolicies } from './support/policies.ts';
import { file, waysToWrite, type Manifest } from './support/ways-to-write.ts';

const prefix = 'ad-sr-';
const rbac = 'rbac.authorization.k8s.io/v1';

/** A value that no message may contain, even about an invalid Secret that holds it. */
const canary = 'ad-sr-canary-5f1';

interface SecretSource {
  readonly type?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly stringData: Readonly<Record<string, string>>;
}

const secret = (namespace: string, name: string, { annotations, ...rest }: SecretSource): Manifest => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, ...(annotations === undefined ? {} : { annotations }) },
  ...rest,
});
const role = (name: string, rule: object): Manifest => ({
  apiVersion: rbac,
  kind: 'Role',
  metadata: { name, namespace: 'ad-sr-a' },
  rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'], ...rule }],
});
const binding = (name: string, roleName: string, subject: object, kind = 'ClusterRole'): Manifest => ({
  apiVersion: rbac,
  kind: 'RoleBinding',
  metadata: { name, namespace: 'ad-sr-a' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
  subjects: [subject],
});
const group = (name: string): object => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name });
const user = (name: string): object => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name });

const plain = { stringData: { a: 'x' } };

const inNamespace = (namespace: string, spec: object): WrittenObject =>
  policy(namespace, { match: { names: [namespace] }, ...spec });

const policies = [
  inNamespace('ad-sr-a', {
    secrets: {
      maxBytes: 6000,
      defaults: {
        labels: { team: "${namespaceObject.metadata.labels['team']}" },
        annotations: { 'created-by': '${request.userInfo.username}' },
      },
    },
    rbac: {
      allowedRoleRefs: ['ClusterRole/view', 'ClusterRole/edit', 'Role/ad-sr-*'],
      forbiddenSubjects: ['Group/system:authenticated', 'ServiceAccount/kube-system/*'],
      forbidWildcardRules: true,
    },
  }),
  inNamespace('ad-sr-c', { secrets: { forbiddenTypes: ['helm.sh/release.v1'] } }),
  inNamespace('ad-sr-warn', { validationActions: ['Warn', 'Audit'], secrets: { maxBytes: 10 } }),
  inNamespace('ad-sr-new', { secrets: { maxBytes: 10 } }),
];

/** The first policy with rules for these kinds adds their webhooks, and API servers notice the webhooks later. */
const probes = [
  file(['create'], secret('ad-sr-a', 'probe', { stringData: { a: 'x'.repeat(7000) } })),
  file(['create'], role('probe', { verbs: ['*'] })),
  file(['create'], binding('probe', 'admin', user('ad-sr-ann'))),
];

describeControllers('the rules on Secrets, Roles and RoleBindings', () => {
  const cluster = sharedCluster();
  /** Has the role `admin` in the namespaces, and no rights elsewhere. */
  const tenant = person(cluster, 'ad-sr-tenant');
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook' });
    for (const name of ['ad-sr-a', 'ad-sr-c', 'ad-sr-warn']) {
      await must(createNamespace(name, { labels: { team: 'shop' } }), cluster);
      await bindTenant(name, '--clusterrole=admin');
    }
    // RBAC lets users grant only rights they have. This user has all of them, so only Reeve refuses.
    await must(
      file(['create'], role('everything', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] })),
      cluster,
    );
    await bindTenant('ad-sr-a', '--role=everything');
    await must(file(['create'], secret('ad-sr-a', 'old', { stringData: { a: 'x'.repeat(7000) } })), cluster);
    await applyPolicies(prefix, policies, cluster);
    for (const probe of probes) {
      await until(
        async () => (await dryRun(probe, tenant)).stderr.includes('policy ad-sr-a'),
        () => 'rules in force',
      );
    }
    const defaulted = file(
      ['create', '-o=jsonpath={.metadata.labels.team}'],
      secret('ad-sr-a', 'probe', plain),
    );
    await until(
      async () => (await dryRun(defaulted, tenant)).stdout === 'shop',
      () => 'defaults in force',
    );
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    await reeve.stop();
  });

  async function bindTenant(namespace: string, roleRef: string): Promise<void> {
    const name = roleRef.replace(/^.*=/, '');
    const args = ['create', 'rolebinding', name, '-n', namespace, roleRef, '--user=ad-sr-tenant'];
    await mustKubectl(args, cluster);
  }
  async function stored(what: string): Promise<WrittenObject> {
    return JSON.parse(await mustKubectl(['get', what, '-n', 'ad-sr-a', '-o=json'], cluster)) as WrittenObject;
  }

  it('a Secret of a Helm release is judged only where a policy names its type', async () => {
    const release = { type: 'helm.sh/release.v1', stringData: { release: canary.repeat(500) } };
    expect(await allowed(file(['create'], secret('ad-sr-a', 'release', release)), tenant)).toBe('');
    expect(await refused(file(['create'], secret('ad-sr-c', 'release', release)), tenant)).toContain(
      'policy ad-sr-c, secrets.forbiddenTypes: type: found "helm.sh/release.v1"',
    );
  });

  it('an invalid Secret is allowed with a warning where the policy only warns', async () => {
    const large = secret('ad-sr-warn', 'large', { stringData: { a: canary } });
    expect(await allowed(file(['create'], large), tenant)).toBe(
      'Warning: policy ad-sr-warn, secrets.maxBytes: data: found 16 bytes; accepted: at most 10 bytes\n',
    );
  });

  describe('rules on Secrets hold for every way of changing one', () => {
    const base64 = (text: string): object => ({ a: Buffer.from(text).toString('base64') });
    // With the defaults of the policy: a write without them gets the warning that they come back.
    const defaults = { labels: { team: 'shop' }, annotations: { 'created-by': 'ad-sr-tenant' } };
    const metadata = { name: 'kept', namespace: 'ad-sr-a', ...defaults };
    const kept = { apiVersion: 'v1', kind: 'Secret', metadata, data: base64('x') };
    beforeAll(() => must(file(['apply'], kept), tenant));

    it.each(waysToWrite)('$way', async ({ write }) => {
      expect(await refused(write(kept, ['data'], base64(canary.repeat(500))), tenant)).toBe(
        'Secret kept is refused: policy ad-sr-a, secrets.maxBytes: data: found 8000 bytes; accepted: at most 6000 bytes',
      );
      expect(await allowed(write(kept, ['data'], base64('another')), tenant)).toBe('');
    });

    it('a Secret that is already too large can be labeled and deleted', async () => {
      expect(await allowed({ args: ['label', 'secret', 'old', '-n', 'ad-sr-a', 'x=y'] }, tenant)).toBe('');
      expect(await allowed({ args: ['delete', 'secret', 'old', '-n', 'ad-sr-a'] }, tenant)).toBe('');
    });
  });

  describe('defaults of Secrets', () => {
    it('defaults of Secrets are set, and come back when they are removed', async () => {
      await allowed(file(['create'], secret('ad-sr-a', 'defaulted', plain)), tenant);
      const metadata = { labels: { team: 'shop' }, annotations: { 'created-by': 'ad-sr-tenant' } };
      expect((await stored('secret/defaulted')).metadata).toMatchObject(metadata);
      await allowed({ args: ['label', 'secret', 'defaulted', '-n', 'ad-sr-a', 'team-'] }, tenant);
      await allowed({ args: ['annotate', 'secret', 'defaulted', '-n', 'ad-sr-a', 'created-by-'] }, tenant);
      expect((await stored('secret/defaulted')).metadata).toMatchObject(metadata);
    });

    it('a default that names the creator stays, and no message shows an annotation', async () => {
      const forged = { ...plain, annotations: { 'created-by': canary } };
      const said = await refused(file(['create'], secret('ad-sr-a', 'forged', forged)), tenant);
      expect(said).toBe(
        'Secret forged is refused: policy ad-sr-a, secrets.defaults: metadata.annotations["created-by"]: found another value; accepted: "ad-sr-tenant"',
      );
    });
  });

  describe('rules on RoleBindings and Roles', { concurrent: true }, () => {
    it('a RoleBinding cannot name a forbidden service account as a user', async () => {
      const good = binding('spelling-good', 'view', user('system:serviceaccount:ad-sr-a:default'));
      const bad = binding('spelling-bad', 'view', user('system:serviceaccount:kube-system:default'));
      expect(await refused(file(['create'], bad), tenant)).toBe(
        'RoleBinding spelling-bad is refused: policy ad-sr-a, rbac.forbiddenSubjects: subjects[0]: ' +
          'found User/system:serviceaccount:kube-system:default; accepted: no subject ServiceAccount/kube-system/*',
      );
      expect(await allowed(file(['create'], good), tenant)).toBe('');
    });

    it('the rules apply to administrators too, except in an emergency', async () => {
      const bad = file(['create'], binding('root', 'cluster-admin', user('ad-sr-ann')));
      expect(await refused(bad, cluster)).toContain(
        'rbac.allowedRoleRefs: roleRef: found ClusterRole/cluster-admin',
      );
      expect(await allowed(bad, emergency(cluster))).toBe('');
    });
  });

  describe('rules on RoleBindings and Roles hold for every way of changing one', () => {
    const keptBinding = binding('kept', 'view', user('ad-sr-ann'));
    const keptRole = role('kept', {});
    beforeAll(async () => {
      await must(file(['apply'], keptBinding), tenant);
      await must(file(['apply'], keptRole), tenant);
    });

    it.each(waysToWrite)('a RoleBinding: $way', async ({ write }) => {
      const change = write(keptBinding, ['subjects'], [user('ad-sr-ann'), group('system:authenticated')]);
      expect(await refused(change, tenant)).toContain('subjects[1]: found Group/system:authenticated');
      const other = write(keptBinding, ['subjects'], [user('ad-sr-ann'), group('ad-sr-team')]);
      expect(await allowed(other, tenant)).toBe('');
    });

    it.each(waysToWrite)('a Role: $way', async ({ write }) => {
      const rule = { apiGroups: ['example.com'], resources: ['widgets'] };
      const change = write(keptRole, ['rules'], [{ ...rule, verbs: ['get', '*'] }]);
      expect(await refused(change, tenant)).toContain('rules[0].verbs: found "*"');
      expect(await allowed(write(keptRole, ['rules'], [{ ...rule, verbs: ['list'] }]), tenant)).toBe('');
    });

    it('kubectl set subject', async () => {
      const set = ['set', 'subject', 'rolebinding', 'kept', '-n', 'ad-sr-a'];
      expect(await refused({ args: [...set, '--group=system:authenticated'] }, tenant)).toContain(
        'found Group/system:authenticated',
      );
      expect(await allowed({ args: [...set, '--group=ad-sr-team'] }, tenant)).toBe('');
    });

    it('kubectl auth reconcile', async () => {
      const bad = {
        ...file(['auth', 'reconcile'], binding('reconciled', 'admin', user('ad-sr-ann'))),
        isReal: true,
      };
      expect(await refused(bad, tenant)).toContain('found ClusterRole/admin');
    });
  });

  it('rules on writes do not block deletecollection', async () => {
    for (const path of ['api/v1/namespaces/ad-sr-a/secrets', `apis/${rbac}/namespaces/ad-sr-a/roles`]) {
      await mustKubectl(['delete', '--raw', `/${path}?labelSelector=!never`], tenant);
    }
    expect(await mustKubectl(['get', 'secrets,roles', '-n', 'ad-sr-a', '-o=name'], cluster)).toBe('');
  });

  it('the rules hold in a Namespace as soon as it exists', async () => {
    await must(createNamespace('ad-sr-new'), cluster);
    const large = file(['create'], secret('ad-sr-new', 'large', { stringData: { a: canary } }));
    expect(await refused(large, cluster)).toContain('policy ad-sr-new, secrets.maxBytes');
  });
});
