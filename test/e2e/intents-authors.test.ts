// Authors of intents and bindings: an intent brings nothing that its author could not do by hand, a tenant in the own namespace.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { allowed, dryRun, must, refused, type Command } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import { inTime } from './support/in-time.ts';
import { intentBinding, namespaceObject, securityIntent } from './support/objects.ts';
import { emergency, grant, person } from './support/people.ts';
import { file } from './support/ways-to-write.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const writing = ['get', 'create', 'update', 'patch', 'delete'];

function apply(...items: readonly object[]): Command {
  return file(['apply'], { apiVersion: 'v1', kind: 'List', items });
}

/** Rights in one namespace alone. */
function role(namespace: string, name: string, user: string, rules: readonly object[]): readonly object[] {
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const metadata = { name, namespace };
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ];
}

const onBindings = { apiGroups: ['reeve.dev'], resources: ['securityintentbindings'], verbs: writing };
const onNetworkPolicies = {
  apiGroups: ['networking.k8s.io'],
  resources: ['networkpolicies'],
  verbs: ['create', 'patch', 'delete'],
};

const onKubeArmor = {
  ...onNetworkPolicies,
  apiGroups: ['security.kubearmor.com'],
  resources: ['kubearmorpolicies'],
};

describeCluster('authors of intents and bindings', () => {
  const cluster = sharedCluster();
  const administrator = emergency(cluster);
  const tenant = person(cluster, 'ia-tenant');
  /** May write intents and bindings everywhere, and nothing else. */
  const officer = person(cluster, 'ia-officer');
  let reeve: Reeve;

  const binding = (namespace: string, intents: readonly string[]): Command =>
    file(['apply'], intentBinding({ namespace, name: 'ia-own' }, { intents }));

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook' });
    await must(apply(...['ia-shop', 'ia-cart'].map((name) => namespaceObject(name))), administrator);
    const rules = [{ apiGroups: ['reeve.dev'], resources: ['*'], verbs: writing }];
    await grant(cluster, { name: 'ia-officer', rules, users: ['ia-officer'] });
    const intents = [
      securityIntent('ia-dns', { id: 'denyExternalNetworkAccess' }),
      securityIntent('ia-escape', { id: 'escapeToHost' }),
      securityIntent('ia-tools', { id: 'swDeploymentTools' }),
    ];
    await must(
      apply(
        ...role('ia-shop', 'ia-write', 'ia-tenant', [onBindings]),
        ...role('ia-cart', 'ia-write', 'ia-tenant', [onBindings]),
        ...role('ia-shop', 'ia-network', 'ia-tenant', [onNetworkPolicies]),
        ...intents,
      ),
      administrator,
    );
    // The API server has noticed the rights, and the webhook the intents: no warning says that they are missing.
    let last = '';
    await until(
      async () => {
        const { code, stderr } = await dryRun(binding('ia-shop', ['ia-dns']), tenant);
        last = stderr;
        return code === 0 && !stderr.includes('does not exist');
      },
      () => last,
    );
  });
  afterAll(async () => {
    await must({ args: ['delete', 'securityintents', 'ia-dns', 'ia-escape', 'ia-tools'] }, administrator);
    await cleanUp(cluster, 'ia-');
    await reeve.stop();
  });

  test('a tenant binds what the tenant could write by hand, in that namespace and in no other', async () => {
    expect(await refused(binding('ia-cart', ['ia-dns']), tenant)).toContain(
      'SecurityIntentBinding ia-own is refused: spec.intents[0]: user "ia-tenant" may not create, change and delete objects of kind NetworkPolicy',
    );
    expect(await refused(binding('ia-cart', ['ia-dns']), tenant)).toContain('in namespace ia-cart');
    expect(await allowed(binding('ia-shop', ['ia-dns']), tenant)).toContain('keeps its intents with');
  });

  test('a Pod Security label needs the right to patch that Namespace, which a Role in it can give', async () => {
    const labeling = binding('ia-shop', ['ia-dns', 'ia-escape']);
    expect(await refused(labeling, tenant)).toContain('"patch" on namespaces/ia-shop in namespace ia-shop');
    const onNamespace = {
      apiGroups: [''],
      resources: ['namespaces'],
      verbs: ['patch'],
      resourceNames: ['ia-shop'],
    };
    await must(apply(...role('ia-shop', 'ia-label', 'ia-tenant', [onNamespace, onKubeArmor])), administrator);
    await inTime(async () => (await dryRun(labeling, tenant)).stderr).not.toContain('may not');
    await allowed(labeling, tenant);
  });

  test('an engine that is not installed needs the rights now', async () => {
    expect(await refused(binding('ia-cart', ['ia-tools']), tenant)).toContain(
      'on kubearmorpolicies.security.kubearmor.com in namespace ia-cart',
    );
  });

  test('a binding of the cluster needs the rights everywhere', async () => {
    const everywhere = file(['create'], intentBinding({ name: 'ia-all' }, { intents: ['ia-dns'] }));
    expect(await refused(everywhere, officer)).toContain(
      'on networkpolicies.networking.k8s.io, cluster-wide',
    );
  });

  test('the author of an intent answers for the bindings that name it', async () => {
    await must(binding('ia-shop', ['ia-dns']), administrator);
    const params = { ranges: ['10.0.0.0/8'] };
    const change = file(['apply'], securityIntent('ia-dns', { id: 'denyExternalNetworkAccess', params }));
    await inTime(async () => (await dryRun(change, officer)).stderr).toContain(
      'SecurityIntent ia-dns is refused: spec: user "ia-officer" may not create, change and delete objects of kind NetworkPolicy',
    );
    const stderr = await refused({ args: ['delete', 'securityintent', 'ia-dns'] }, officer);
    expect(stderr).toContain(
      'user "ia-officer" may not delete what SecurityIntentBinding ia-shop/ia-own provides (verb "delete" on networkpolicies.networking.k8s.io in namespace ia-shop)',
    );
  });

  test('a tenant deletes and weakens the binding of an administrator only with the rights on its objects, or to use it', async () => {
    await must(binding('ia-cart', ['ia-tools']), administrator);
    const deletion = { args: ['delete', 'securityintentbindings.reeve.dev', 'ia-own', '-n', 'ia-cart'] };
    const lacking =
      'user "ia-tenant" may not delete what SecurityIntentBinding ia-cart/ia-own provides (verb "delete" on kubearmorpolicies.security.kubearmor.com in namespace ia-cart, or verb "use" on securityintentbindings/ia-own in namespace ia-cart)';
    await inTime(async () => (await dryRun(deletion, tenant)).stderr).toContain(lacking);
    const spec = { intents: ['ia-tools'], suspend: true };
    const suspension = file(['apply'], intentBinding({ namespace: 'ia-cart', name: 'ia-own' }, spec));
    expect(await refused(suspension, tenant)).toContain(
      'may not end the keeping of what SecurityIntentBinding ia-cart/ia-own provides (verb "patch" on kubearmorpolicies',
    );
    await must(
      apply(...role('ia-cart', 'ia-use', 'ia-tenant', [{ ...onBindings, verbs: ['use'] }])),
      administrator,
    );
    await inTime(async () => (await dryRun(deletion, tenant)).stderr).not.toContain('may not');
    await must(deletion, tenant);
  });

  test('a tenant names an intent before it exists only with the rights to all that it could bring', async () => {
    expect(await refused(binding('ia-shop', ['ia-dns', 'ia-later']), tenant)).toContain(
      'may not bind SecurityIntent ia-later before it exists, because it could create, change and delete objects of kind',
    );
  });

  test('an unknown id and an unknown param are refused with what is known', async () => {
    const unknown = file(['create'], securityIntent('ia-typo', { id: 'escapeToHots' }));
    expect(await refused(unknown, officer)).toContain('did you mean escapeToHost?');
    const param = { id: 'escapeToHost', params: { psaLvl: 'baseline' } };
    expect(await refused(file(['create'], securityIntent('ia-typo', param)), officer)).toContain('psaLevel');
  });
});
