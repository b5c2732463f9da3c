// The contents of namespaces: Reeve keeps objects of every kind as the policy wants them, without unneeded writes.
import { beforeAll, describe, expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap, roleBinding, type Ref } from './support/objects.ts';
import { Rounds } from './support/rounds.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const quota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'team' },
  // The API server stores `1` and `1Gi` for these.
  spec: { hard: { 'requests.cpu': '1000m', 'requests.memory': '1024Mi', pods: '5' } },
};
const limits = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'team' },
  spec: { limits: [{ type: 'Container', default: { cpu: '0.5', memory: '2048Ki' } }] },
};
const network = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'team', labels: { app: 'team' } },
  spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] },
};

describeControllers('contents', () => {
  const stage = new Stage(sharedCluster(), 'ho-co-');
  const rounds = new Rounds(stage);
  const namesakes = new Namesakes(stage, 'ho-co-');
  const reeve = withReeve(stage);

  beforeAll(async () => {
    await rounds.begin('ho-co-');
  });

  describe('contents of the kinds that the install allows', () => {
    const resources = [quota, limits, network, configMap('team', { key: 'value' })];
    const kinds = ['ResourceQuota', 'LimitRange', 'NetworkPolicy', 'ConfigMap'] as const;

    test('contents are created once, whatever form the API server gives them', async () => {
      const namespace = await namesakes.provide('kinds', { resources });
      const refs = kinds.map((kind) => namesakes.objectIn('kinds', kind, 'team'));
      expect(await stage.ownersOf(...refs)).toEqual(kinds.map(() => 'NamespacePolicy/ho-co-kinds'));
      // The sandbox stores quantities as they were written.
      const hard = sharedCluster().isSandbox
        ? quota.spec.hard
        : { 'requests.cpu': '1', 'requests.memory': '1Gi', pods: '5' };
      expect((await stage.mustGet(namesakes.objectIn('kinds', 'ResourceQuota', 'team')))['spec']).toEqual({
        hard,
      });
      await rounds.pass(namespace);
      expect(await rounds.attempts(namespace)).toEqual([
        'patch resourcequotas team',
        'patch limitranges team',
        'patch networkpolicies.networking.k8s.io team',
        'patch configmaps team',
      ]);
    });

    test('applying the policy again writes nothing', async () => {
      const namespace = 'ho-co-kinds';
      const writes = async (): Promise<readonly string[]> => {
        const own = (await stage.reeveWrites('')).filter((each) => each.endsWith(' ho-co-kinds'));
        return [...(await rounds.writes(namespace)), ...own];
      };
      const before = await writes();
      await stage.apply(namesakes.policy('kinds', { resources }));
      await rounds.pass(namespace);
      expect(await writes()).toEqual(before);
    });

    test('a restart of Reeve writes nothing', async () => {
      const namespace = 'ho-co-kinds';
      const before = await rounds.writes(namespace);
      await reeve.process.stop();
      await reeve.start();
      await rounds.pass(namespace);
      expect(await rounds.writes(namespace)).toEqual(before);
    });

    test('a field that the policy no longer has is removed', async () => {
      const data = { kept: 'one', dropped: 'two' };
      const metadata = { name: 'fields', labels: { dropped: 'label' }, annotations: { dropped: 'note' } };
      await namesakes.provide('fields', { resources: [{ ...configMap('fields', data), metadata }] });
      const ref = namesakes.objectIn('fields', 'ConfigMap', 'fields');
      const before = await stage.mustGet(ref);
      expect(before['data']).toEqual(data);
      await stage.apply(namesakes.policy('fields', { resources: [configMap('fields', { kept: 'one' })] }));
      await inTime(async () => (await stage.mustGet(ref))['data']).toEqual({ kept: 'one' });
      const { metadata: after } = await stage.mustGet(ref);
      expect(after.uid).toBe(before.metadata.uid);
      expect(after.labels).not.toHaveProperty('dropped');
      expect(after.annotations).not.toHaveProperty('dropped');
    });

    test('a changed field is restored, and an added field stays', async () => {
      const namespace = await namesakes.provide('tampered', {
        resources: [configMap('tampered', { key: 'value' })],
      });
      const ref = namesakes.objectIn('tampered', 'ConfigMap', 'tampered');
      const patch = { metadata: { labels: { added: 'label' } }, data: { key: 'other', added: 'too' } };
      const args = ['patch', 'configmap', 'tampered', '-n', namespace, '--type=merge'];
      await stage.inEmergency(...args, '-p', JSON.stringify(patch));
      await inTime(async () => (await stage.mustGet(ref))['data']).toEqual({ key: 'value', added: 'too' });
      expect((await stage.mustGet(ref)).metadata.labels).toHaveProperty('added');
      await rounds.pass(namespace);
      expect(await rounds.writes(namespace)).toEqual([
        'patch configmaps tampered',
        'patch configmaps tampered',
      ]);
    });

    test('a kind that the install does not allow is reported in the warning and in the status', async () => {
      const budget = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'team' },
        spec: { maxUnavailable: 1, selector: {} },
      };
      await namesakes.makeNamespace('unlike');
      expect(
        await stage.apply(namesakes.policy('unlike', { resources: [budget, configMap('team', {})] })),
      ).toContain(
        'provides kinds that this installation does not allow, so Reeve does not create them: policy/v1/PodDisruptionBudget',
      );
      await inTime(() => stage.failures(namesakes.refTo('unlike'))).toEqual([
        'ho-co-unlike PodDisruptionBudget team: KindNotAllowed, this installation does not allow policies to provide PodDisruptionBudget of policy/v1',
      ]);
      expect(await stage.ownersOf(namesakes.objectIn('unlike', 'ConfigMap', 'team'))).toEqual([
        'NamespacePolicy/ho-co-unlike',
      ]);
      await inTime(() => stage.namespaceCondition('ho-co-unlike')).toBe('False KindNotAllowed');
    });
  });

  describe('of RoleBindings', () => {
    async function groupsIn(ref: Ref): Promise<string> {
      const { roleRef, subjects = [] } = (await stage.mustGet(ref)) as unknown as {
        readonly roleRef: { readonly name: string };
        readonly subjects?: readonly { readonly name: string }[];
      };
      return [roleRef.name, ...subjects.map(({ name }) => name)].join(' ');
    }

    test('another roleRef needs a new RoleBinding, and other subjects do not', async () => {
      const namespace = await namesakes.provide('role', { roleBindings: [roleBinding('team', 'readers')] });
      const ref = namesakes.objectIn('role', 'RoleBinding', 'team');
      const [before] = await stage.uidsOf(ref);
      await stage.apply(namesakes.policy('role', { roleBindings: [roleBinding('team', 'writers')] }));
      await inTime(() => groupsIn(ref)).toBe('view writers');
      expect(await stage.uidsOf(ref)).toEqual([before]);
      await stage.apply(namesakes.policy('role', { roleBindings: [roleBinding('team', 'writers', 'edit')] }));
      await inTime(async () => (await stage.get(ref)) !== undefined && (await groupsIn(ref))).toBe(
        'edit writers',
      );
      expect(await stage.uidsOf(ref)).not.toEqual([before]);
      await rounds.pass(namespace);
      const what = 'rolebindings.rbac.authorization.k8s.io team';
      const writes = await rounds.writes(namespace);
      expect(writes).toEqual(['patch', 'patch', 'delete', 'patch'].map((verb) => `${verb} ${what}`));
    });

    test('subjects that the policy does not name are removed', async () => {
      const namespace = await namesakes.provide('subjects', {
        roleBindings: [roleBinding('team', 'readers')],
      });
      const subject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' };
      const patch = JSON.stringify([{ op: 'add', path: '/subjects/-', value: subject }]);
      const args = ['patch', 'rolebinding', 'team', '-n', namespace, '--type=json'];
      await stage.inEmergency(...args, '-p', patch);
      await inTime(() => groupsIn(namesakes.objectIn('subjects', 'RoleBinding', 'team'))).toBe(
        'view readers',
      );
      await rounds.pass(namespace);
      expect((await rounds.writes(namespace)).length).toBe(2);
    });
  });
});
