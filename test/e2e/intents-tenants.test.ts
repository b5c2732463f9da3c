// A tenant with bindings can narrow what the tenant's namespace may do, and changes nothing that a cluster binding gives.
import { beforeAll, describe, expect, test } from 'vitest';
import type { KubectlOptions } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { attempt } from './support/attempt.ts';
import { inTime } from './support/in-time.ts';
import { clusterBinding, intent, namespacedBinding, namespaceObject, type Ref } from './support/objects.ts';
import { person } from './support/people.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'st-';
const home = `${prefix}home`;
const label = 'pod-security.kubernetes.io/enforce';
const all = ['get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection'];

type Rule = Readonly<Record<'apiGroups' | 'resources' | 'verbs', readonly string[]>>;

describeControllers('tenants and intents', () => {
  const stage = new Stage(sharedCluster(), prefix);
  const { cluster } = stage;
  withReeve(stage);
  /** May write bindings in the tenant's namespace, and nothing else. */
  const poor = person(cluster, `${prefix}poor`);
  /** May also write NetworkPolicies. */
  const partly = person(cluster, `${prefix}partly`);
  /** May also write the objects that bindings give, and change the tenant's Namespace. */
  const rich = person(cluster, `${prefix}rich`);

  const networkPolicy = (name: string): Ref => ({ kind: 'NetworkPolicy', name, namespace: home });
  const own = (name: string): Ref => ({ kind: 'SecurityIntentBinding', name, namespace: home });
  const ofCluster = (name: string): Ref => ({ kind: 'ClusterSecurityIntentBinding', name });
  const stateOf = async (ref: Ref): Promise<unknown> => {
    const { metadata, ...rest } = await stage.mustGet(ref);
    return {
      uid: metadata.uid,
      labels: metadata.labels,
      annotations: metadata.annotations,
      spec: rest['spec'],
    };
  };
  /** Returns the error, if any, without warnings. */
  const asTenant = async (...objects: Parameters<Stage['tryApply']>[0]): Promise<string> =>
    (await stage.tryApply(objects, rich)).stderr.replaceAll(/^Warning: .*\n/gm, '');

  beforeAll(async () => {
    const networks = { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: all };
    await stage.apply(namespaceObject(home));
    await give('bindings', [poor, partly, rich], {
      apiGroups: ['reeve.dev'],
      resources: ['securityintentbindings'],
      verbs: all,
    });
    await give('networks', [partly, rich], networks);
    await give('engines', [rich], {
      apiGroups: ['kyverno.io', 'security.kubearmor.com'],
      resources: ['policies', 'kubearmorpolicies'],
      verbs: all,
    });
    await give('core', [rich], { apiGroups: [''], resources: ['serviceaccounts', 'namespaces'], verbs: all });
    await stage.apply(
      intent(`${prefix}dns`, 'dnsManipulation'),
      intent(`${prefix}host`, 'escapeToHost'),
      intent(`${prefix}token`, 'unAuthorizedSaTokenAccess'),
      intent(`${prefix}later`, 'denyExternalNetworkAccess'),
      intent(`${prefix}own`, 'denyExternalNetworkAccess'),
      clusterBinding(`${prefix}cluster`, [home], [`${prefix}dns`, `${prefix}host`, `${prefix}token`]),
    );
    const ready = async (): Promise<string> => await stage.condition(ofCluster(`${prefix}cluster`));
    await until(async () => (await ready()) === 'True Synced', ready);
  });

  async function give(name: string, users: readonly KubectlOptions[], rule: Rule): Promise<void> {
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const metadata = { name: `${prefix}${name}`, namespace: home };
    const [apiGroup, kind] = ['rbac.authorization.k8s.io', 'User'];
    const subjects = users.map(({ as }) => ({ apiGroup, kind, name: as }));
    const roleRef = { apiGroup, kind: 'Role', name: metadata.name };
    await stage.apply(
      { apiVersion, kind: 'Role', metadata, rules: [rule] },
      { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
    );
    const [group, resource] = [rule.apiGroups.at(-1), rule.resources.at(-1)];
    const resourceAttributes = { namespace: home, verb: 'delete', group, resource };
    for (const { as: user } of users) {
      const isAllowed = async (): Promise<boolean> => {
        const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
        const answer = await cluster.admin.mustSend('POST', path, { spec: { user, resourceAttributes } });
        return (answer as { readonly status: { readonly allowed: boolean } }).status.allowed;
      };
      await until(isAllowed, () => `${user} has the rights ${name}`);
    }
  }

  describe('rights', () => {
    test('a tenant without rights on what a binding gives is refused, and told which right is missing', async () => {
      const { code, stderr } = await stage.tryApply(
        [namespacedBinding(home, 'poor', [`${prefix}own`])],
        poor,
      );
      expect(code).toBe(1);
      expect(stderr).toContain(
        `(verbs "create", "patch" and "delete" on networkpolicies.networking.k8s.io in namespace ${home})`,
      );
      expect(await stage.get(own('poor'))).toBeUndefined();
    });

    test('the rights on objects of an engine are required before the engine is installed', async () => {
      const binding = namespacedBinding(home, 'partly', [`${prefix}dns`]);
      const { code, stderr } = await stage.tryApply([binding], partly);
      expect(code).toBe(1);
      expect(stderr).toContain(`on kubearmorpolicies.security.kubearmor.com in namespace ${home})`);
      expect(stderr).not.toContain('networkpolicies.networking.k8s.io');
    });

    test('a tenant with these rights gets the object, and the binding owns it', async () => {
      expect(await asTenant(namespacedBinding(home, 'mine', [`${prefix}own`]))).toBe('');
      await inTime(() => stage.condition(own('mine'))).toBe('True Synced');
      expect(await stage.ownersOf(networkPolicy(`${prefix}own`))).toEqual([
        `SecurityIntentBinding/${home}/mine`,
      ]);
      await stage.remove(own('mine'));
      expect(await stage.get(networkPolicy(`${prefix}own`))).toBeUndefined();
    });

    test('a tenant cannot change an intent', async () => {
      const changed = intent(`${prefix}dns`, 'dnsManipulation', { action: 'Audit' });
      expect((await stage.tryApply([changed], rich)).stderr).toContain('forbidden');
    });
  });

  describe('the objects of a cluster binding', () => {
    const name = `${prefix}dns`;
    const merge = (patch: object): readonly string[] => ['--type=merge', '-p', JSON.stringify(patch)];
    const open = { spec: { egress: [{}] } };
    const mark = 'app.kubernetes.io/managed-by';
    const ways: readonly (readonly [string, readonly string[]])[] = [
      ['delete it', ['delete', 'netpol', name, '--wait=false']],
      ['delete all objects of the kind', ['delete', 'netpol', '--all', '--wait=false']],
      ['change its spec', ['patch', 'netpol', name, ...merge(open)]],
      ['remove the mark of Reeve', ['label', 'netpol', name, `${mark}-`]],
      [
        'remove the label of the binding',
        ['label', 'netpol', name, 'reeve.dev/clustersecurityintentbinding-'],
      ],
      [
        'name the own binding as its owner',
        ['annotate', '--overwrite', 'netpol', name, `reeve.dev/owner=SecurityIntentBinding/${home}/mine`],
      ],
      [
        'mark it for adoption by the own binding',
        ['annotate', 'netpol', name, `reeve.dev/adopt=SecurityIntentBinding/${home}/mine`],
      ],
      [
        'say that a binding left it behind',
        ['annotate', 'netpol', name, `reeve.dev/orphaned-from=SecurityIntentBinding/${home}/mine`],
      ],
      [
        'give it an owner that is deleted',
        [
          'patch',
          'netpol',
          name,
          ...merge({
            metadata: {
              ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }],
            },
          }),
        ],
      ],
    ];

    test.each(ways)('a tenant cannot %s', async (_, args) => {
      const before = await stateOf(networkPolicy(name));
      const { code, stderr } = await attempt({ args: [...args, '-n', home] }, rich);
      expect(code, stderr).toBe(1);
      expect(stderr).toContain(`ClusterSecurityIntentBinding/${prefix}cluster`);
      expect(await stateOf(networkPolicy(name))).toEqual(before);
    });

    test('a binding of the same intent follows, and its deletion leaves the object as it was', async () => {
      const before = await stateOf(networkPolicy(name));
      expect(await asTenant(namespacedBinding(home, 'same', [name]))).toBe('');
      await inTime(() => stage.condition(own('same'))).toBe('True Synced');
      expect(await stateOf(networkPolicy(name))).toEqual(before);
      const args = ['delete', 'sib', 'same', '-n', home, '--timeout=60s'];
      expect((await attempt({ args }, rich)).code).toBe(0);
      await inTime(() => stage.condition(ofCluster(`${prefix}cluster`))).toBe('True Synced');
      expect(await stateOf(networkPolicy(name))).toEqual(before);
    });

    test.each([
      ['that was there first', {}],
      ['that was there first and is suspended', { suspend: true }],
      ['that was there first and keeps its objects', { deletionPolicy: 'Orphan' }],
    ])('a binding %s hands its object over to a cluster binding, which can change it', async (_, fields) => {
      const object = networkPolicy(`${prefix}later`);
      const first = namespacedBinding(home, 'first', [object.name]);
      expect(await asTenant(first)).toBe('');
      await inTime(() => stage.ownersOf(object)).toEqual([`SecurityIntentBinding/${home}/first`]);
      expect(await asTenant(namespacedBinding(home, 'first', [object.name], fields))).toBe('');
      const [uid] = await stage.uidsOf(object);
      await stage.apply(clusterBinding(`${prefix}second`, [home], [object.name]));
      await inTime(() => stage.ownersOf(object)).toEqual([`ClusterSecurityIntentBinding/${prefix}second`]);
      const ranges = ['10.1.0.0/16'];
      await stage.apply(intent(object.name, 'denyExternalNetworkAccess', { params: { ranges } }));
      await inTime(() => stateOf(object)).toHaveProperty('spec.ingress.0.from', [
        { ipBlock: { cidr: ranges[0] } },
      ]);
      await attempt({ args: ['delete', 'sib', 'first', '-n', home, '--timeout=60s'] }, rich);
      expect(await stage.uidsOf(object)).toEqual([uid]);
      await stage.remove(ofCluster(`${prefix}second`));
      expect(await stage.get(object)).toBeUndefined();
      await stage.apply(intent(object.name, 'denyExternalNetworkAccess'));
    });
  });

  describe('the rules of a cluster binding on the Namespace and its ServiceAccount', () => {
    const levelOf = async (): Promise<string | undefined> =>
      (await stage.mustGet({ kind: 'Namespace', name: home })).metadata.labels?.[label];

    test.each([
      ['weaken', ['label', '--overwrite', 'ns', home, `${label}=privileged`]],
      ['remove', ['label', 'ns', home, `${label}-`]],
    ])('a tenant who may change the Namespace cannot %s its Pod Security label', async (_, args) => {
      await attempt({ args }, rich);
      expect(await levelOf()).toBe('baseline');
    });

    test('a binding with another level of Pod Security does not change the label', async () => {
      await stage.apply(intent(`${prefix}strict`, 'escapeToHost', { params: { psaLevel: 'restricted' } }));
      expect(await asTenant(namespacedBinding(home, 'strict', [`${prefix}strict`]))).toBe('');
      await inTime(() => stage.condition(own('strict'))).not.toContain('observed');
      expect(await levelOf()).toBe('baseline');
      await stage.remove(own('strict'));
      expect(await levelOf()).toBe('baseline');
    });

    test('what a tenant changes in the ServiceAccount default is repaired', async () => {
      const account = { kind: 'ServiceAccount', name: 'default', namespace: home } as const;
      const mounts = async (): Promise<unknown> =>
        (await stage.get(account))?.['automountServiceAccountToken'];
      await inTime(mounts).toBe(false);
      const args = ['patch', 'sa', 'default', '-n', home, '-p', '{"automountServiceAccountToken":true}'];
      expect((await attempt({ args }, rich)).code).toBe(0);
      await inTime(mounts).toBe(false);
    });
  });
});
