// A cluster whose controllers all act as one user: Reeve cannot tell them from other users, and blocks none of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { controllersUser } from '../cluster/flags.ts';
import { allowFail, installReeve } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { attempt, must, refused } from './support/attempt.ts';
import {
  annotateNamespace as annotate,
  createNamespace as create,
  deleteNamespace as remove,
} from './support/namespace-commands.ts';
import { configMap, policy, roleBinding, share, source } from './support/objects.ts';
import { person } from './support/people.ts';
import { file } from './support/ways-to-write.ts';

const match = { names: ['ad-one-*'] };

/** Rules on everything that Reeve can judge. Controllers would violate each rule if they were not exempt. */
const rules = policy('ad-one', {
  match,
  namespaces: {
    deletion: { protect: true },
    immutable: { labels: ['team'] },
    defaults: { labels: { team: 'shop' } },
  },
  secrets: { maxBytes: 100 },
  rbac: { allowedRoleRefs: ['ClusterRole/edit'], forbidWildcardRules: true },
  contents: {
    roleBindings: [roleBinding('team', 'ad-one-team', 'edit')],
    resources: [configMap('settings', { a: 'b' })],
  },
});
const copies = share('ad-one', { source: { namespace: 'reeve-shared', name: 'ad-one' }, targets: match });
const kept = ['rolebinding/team', 'configmap/settings', 'secret/ad-one'];

describeControllers('where all controllers are one user', () => {
  let plane: ControlPlane;
  let reeve: Reeve;

  beforeAll(async () => {
    plane = await startControlPlane({ serviceAccountCredentials: false });
    await installReeve(plane);
    await allowFail(plane);
    reeve = await startReeve(plane, { args: ['--secrets-rbac-failure-policy=Fail'] });
    for (const object of [source('ad-one', { a: 'b' }), rules, copies])
      await must(file(['create'], object), plane);
  });
  afterAll(async () => {
    await reeve.stop();
    await plane.stop();
  });

  async function furnished(name: string): Promise<void> {
    await must(create(name), plane);
    const made = [...kept, 'serviceaccount/default', 'configmap/kube-root-ca.crt'];
    await eventually(async () => (await kubectl(['get', ...made, '-n', name], plane)).code).toBe(0);
  }
  const may = async (verb: string, resource: string, namespace: string): Promise<string> => {
    const member = person(plane, 'ad-one-ann', 'ad-one-team', 'system:authenticated');
    return (await kubectl(['auth', 'can-i', verb, resource, '-n', namespace], member)).stdout.trim();
  };
  const release = (name: string): Promise<string> =>
    must(annotate(name, `reeve.dev/allow-deletion=${name}`), plane);
  const isGone = async (name: string): Promise<void> => {
    await mustKubectl(['wait', `namespace/${name}`, '--for=delete', '--timeout=60s'], plane);
  };

  it('a Namespace gets the objects of Kubernetes and of Reeve', async () => {
    await furnished('ad-one-a');
    expect(await may('create', 'deployments', 'ad-one-a')).toBe('yes');
  });

  it('aggregated roles are still filled', async () => {
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' };
    const rule = { apiGroups: [''], resources: ['limitranges'], verbs: ['create'] };
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'ad-one', labels },
    };
    expect(await may('create', 'limitranges', 'ad-one-a')).toBe('no');
    await must(file(['create'], { ...role, rules: [rule] }), plane);
    await eventually(() => may('create', 'limitranges', 'ad-one-a')).toBe('yes');
  });

  // Each test waits some seconds for a controller.
  describe('a Namespace ends', { concurrent: true }, () => {
    it('a Namespace ends with its contents once its protection is lifted', async () => {
      const secret = ['create', 'secret', 'generic', 'own', '-n', 'ad-one-a', '--from-literal=a=b'];
      await mustKubectl(secret, plane);
      expect(await refused(remove('ad-one-a'), plane)).toContain('namespaces.deletion');
      await release('ad-one-a');
      await must(remove('ad-one-a'), plane);
      await isGone('ad-one-a');
      const records = (await plane.auditLog().records()).filter(({ namespace }) => namespace === 'ad-one-a');
      const deleted = records.filter(({ verb, changes }) => verb === 'deletecollection' && changes > 0);
      expect(new Set(deleted.map(({ user }) => user))).toEqual(new Set([controllersUser]));
      expect(deleted.map(({ resource }) => resource)).toEqual(
        expect.arrayContaining(['secrets', 'configmaps', 'rolebindings.rbac.authorization.k8s.io']),
      );
      // Kubernetes itself refuses new objects in a terminating namespace. All other requests of the controllers have passed.
      const others = records.filter(({ user, verb }) => user === controllersUser && verb !== 'create');
      expect(others.filter(({ status }) => status === 403)).toEqual([]);
    });

    it('a Namespace ends with its owner once its protection is lifted', async () => {
      await furnished('ad-one-b');
      await mustKubectl(['create', 'clusterrole', 'ad-one-owner', '--verb=get', '--resource=pods'], plane);
      const uid = await mustKubectl(
        ['get', 'clusterrole', 'ad-one-owner', '-o=jsonpath={.metadata.uid}'],
        plane,
      );
      const owner = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        name: 'ad-one-owner',
        uid,
      };
      const patch = JSON.stringify({ metadata: { ownerReferences: [owner] } });
      const own = { args: ['patch', 'namespace', 'ad-one-b', '--type=merge', '-p', patch] };
      expect(await refused(own, plane)).toContain('namespaces.deletion');
      await release('ad-one-b');
      await must(own, plane);
      await mustKubectl(['delete', 'clusterrole', 'ad-one-owner'], plane);
      await isGone('ad-one-b');
      expect((await attempt({ args: ['get', 'namespace', 'ad-one-b'] }, plane)).stderr).toContain('NotFound');
    });
  });

  it('a deleted policy and a deleted share end together with their objects', async () => {
    await furnished('ad-one-c');
    await mustKubectl(['delete', 'nspol/ad-one', 'sshare/ad-one', '--timeout=60s'], plane);
    const left = ['get', ...kept, '-n', 'ad-one-c', '-o=name', '--ignore-not-found'];
    expect(await mustKubectl(left, plane)).toBe('');
    await eventually(async () => (await attempt(remove('ad-one-c'), plane)).code).toBe(0);
  });
});
