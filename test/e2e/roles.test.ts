// Roles of policies: kept with the RoleBindings that need them, never more than the author and the account of Reeve may give.
import { describe, expect, test } from 'vitest';
import { kubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { policy, type Ref } from './support/objects.ts';
import { grant, person } from './support/people.ts';
import { reconcilerUser, Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'ho-ro-';
const rbac = 'rbac.authorization.k8s.io';
/** The account of Reeve holds this rule. */
const settings = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] };
/** The account of Reeve does not hold this rule. */
const shells = { apiGroups: [''], resources: ['pods/exec'], verbs: ['create'] };

const binding = {
  name: 'readers',
  roleRef: { kind: 'Role', name: 'reader' },
  subjects: [{ kind: 'Group', name: 'ho-ro-readers' }],
};
const contents = (...rules: readonly object[]) => ({
  roles: [{ name: 'reader', rules }],
  roleBindings: [binding],
});

describeControllers('Roles', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const namesakes = new Namesakes(stage, prefix);
  withReeve(stage);

  const roleIn = (name: string): Ref => namesakes.objectIn(name, 'Role', 'reader');
  const bindingIn = (name: string): Ref => namesakes.objectIn(name, 'RoleBinding', 'readers');
  const rulesIn = async (name: string): Promise<unknown> => (await stage.get(roleIn(name)))?.['rules'];

  const mayDo = async (verb: string, resource: string, name: string, part = ''): Promise<string> => {
    const reader = person(cluster, 'ho-ro-ann', 'ho-ro-readers', 'system:authenticated');
    const namespace = namesakes.nameOf(name);
    const args = ['auth', 'can-i', verb, resource, `--subresource=${part}`, '-n', namespace];
    return (await kubectl(args, reader)).stdout.trim();
  };

  test('the subjects of the RoleBinding have the rules of the Role, in their namespace alone', async () => {
    await namesakes.makeNamespace('other');
    await namesakes.provide('first', contents(settings));
    const refs = [roleIn('first'), bindingIn('first')];
    const owner = `NamespacePolicy/${namesakes.nameOf('first')}`;
    expect(await stage.ownersOf(...refs)).toEqual([owner, owner]);
    await inTime(() => mayDo('list', 'configmaps', 'first')).toBe('yes');
    expect(await mayDo('delete', 'configmaps', 'first')).toBe('no');
    expect(await mayDo('list', 'configmaps', 'other')).toBe('no');
  });

  test('a changed and a deleted Role are restored', async () => {
    const namespace = namesakes.nameOf('first');
    const widen = ['--type=merge', '-p', JSON.stringify({ rules: [shells] })];
    await stage.inEmergency('patch', 'role', 'reader', '-n', namespace, ...widen);
    await inTime(() => rulesIn('first')).toEqual([settings]);
    await stage.inEmergency('delete', 'role', 'reader', '-n', namespace);
    await inTime(() => rulesIn('first')).toEqual([settings]);
    expect(await stage.condition(namesakes.refTo('first'))).toBe('True Synced');
  });

  test('other rules change the Role in place', async () => {
    const uids = await stage.uidsOf(roleIn('first'), bindingIn('first'));
    const fewer = { ...settings, verbs: ['get'] };
    await stage.apply(namesakes.policy('first', contents(fewer)));
    await inTime(() => rulesIn('first')).toEqual([fewer]);
    expect(await stage.uidsOf(roleIn('first'), bindingIn('first'))).toEqual(uids);
  });

  test('the RoleBinding is created after its Role, and deleted before it', async () => {
    const namespace = namesakes.nameOf('first');
    await stage.apply(namesakes.policy('first', {}));
    await inTime(() => stage.ownersOf(roleIn('first'), bindingIn('first'))).toEqual(['absent', 'absent']);
    const order = ['roles', 'rolebindings'].map((each) => `${each}.${rbac}`);
    const writes = await stage.reeveWrites(namespace);
    const first = writes.filter((_, index) => index < 2);
    expect(first.map((write) => write.split(' ')[1])).toEqual(order);
    const deletions = await stage.deletionsIn(namespace);
    expect(deletions.slice(-2).map((write) => write.split(' ')[1])).toEqual(order.toReversed());
  });

  test('an author without a rule is refused, and allowed once he has it', async () => {
    const alice = { name: 'ho-ro-alice', who: person(cluster, 'ho-ro-alice', 'system:authenticated') };
    const verbs = ['get', 'create', 'update', 'patch', 'delete'];
    const writes = [
      { apiGroups: ['reeve.dev'], resources: ['namespacepolicies'], verbs },
      { apiGroups: [rbac], resources: ['roles', 'rolebindings'], verbs },
    ];
    await grant(cluster, { name: alice.name, rules: [...writes, settings], users: [alice.name] });
    const written = policy(`${prefix}alice`, {
      match: { names: ['ho-ro-nowhere'] },
      contents: contents(settings, shells),
    });
    const answer = async () => (await stage.tryApply([written], alice.who)).stderr;
    await inTime(answer).toContain(
      `spec.contents.roles[0].rules[1]: user "ho-ro-alice" may not hand out Role reader (verb "create" on pods/exec, cluster-wide, or verb "escalate" on roles.${rbac}, cluster-wide)`,
    );
    expect(await answer()).not.toContain('rules[0]');
    await grant(cluster, { name: alice.name, rules: [...writes, settings, shells], users: [alice.name] });
    await inTime(async () => (await stage.tryApply([written], alice.who)).code).toBe(0);
  });

  describe('without the value escalateRoles', () => {
    test('the status prints the exact rule that the account lacks, and its Role stays as it is', async () => {
      await namesakes.provide('lacks', contents(settings));
      await stage.apply(namesakes.policy('lacks', contents(settings, shells)));
      await inTime(() => stage.condition(namesakes.refTo('lacks'))).toBe('False Failed');
      expect(await stage.failures(namesakes.refTo('lacks'))).toEqual([
        `${namesakes.nameOf('lacks')} Role reader: InsufficientPermissions, Reeve's account does not hold what Role reader gives, and may not ` +
          'escalate Roles (manifests/install/21-reconciler-bind.yaml; with Helm: escalateRoles): ' +
          '{APIGroups:[""], Resources:["pods/exec"], Verbs:["create"]}',
      ]);
      expect(await rulesIn('lacks')).toEqual([settings]);
    });

    test('the Role is changed once the account may escalate Roles', async () => {
      const rules = [{ apiGroups: [rbac], resources: ['roles'], verbs: ['bind', 'escalate'] }];
      await grant(cluster, { name: 'ho-ro-escalate', rules, users: [reconcilerUser] });
      try {
        await stage.kubectl('annotate', 'namespace', namesakes.nameOf('lacks'), 'ho-ro-again=');
        await inTime(() => rulesIn('lacks')).toEqual([settings, shells]);
        await inTime(() => stage.condition(namesakes.refTo('lacks'))).toBe('True Synced');
        await inTime(() => mayDo('create', 'pods', 'lacks', 'exec')).toBe('yes');
        expect(await stage.failures(namesakes.refTo('lacks'))).toEqual([]);
      } finally {
        await stage.kubectl('delete', 'clusterrole,clusterrolebinding', 'ho-ro-escalate');
      }
    });
  });

  test('a Role of others is a conflict, and the jail lets Reeve bind no subject to it', async () => {
    const namespace = await namesakes.makeNamespace('taken');
    await stage.kubectl('create', 'role', 'reader', '-n', namespace, '--verb=get', '--resource=configmaps');
    await stage.apply(namesakes.policy('taken', contents(settings)));
    await inTime(async () => (await stage.failures(namesakes.refTo('taken'))).join('\n')).toContain(
      'RoleBinding readers: Rejected, ValidatingAdmissionPolicy reeve-jail-roles refuses it',
    );
    const [failure = ''] = await stage.failures(namesakes.refTo('taken'));
    expect(failure).toContain('Role reader: AlreadyExists');
    expect(await stage.ownersOf(roleIn('taken'), bindingIn('taken'))).toEqual(['nobody', 'absent']);
  });
});
