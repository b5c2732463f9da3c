// `reeve grant` on a real API server: what the objects permit, when access ends, and what users of few rights read.
import { afterAll, describe, expect, test } from 'vitest';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { runCommand } from './support/command.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, policy, roleBinding } from './support/objects.ts';
import { grant, namespaceRules, person } from './support/people.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'cl-gr-';

describeControllers('a command line', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const { kubeconfig } = cluster;
  withReeve(stage);

  describe('that grants access to a namespace', () => {
    const place = `${prefix}lent`;
    const words = ['grant', 'access', '--role', 'view', '--user', `${prefix}carol`, '-n', place];
    const apply = ['--apply', '--yes', `--kubeconfig=${kubeconfig}`];
    const carol = person(cluster, `${prefix}carol`);
    const canList = async (): Promise<boolean> =>
      (await kubectl(['get', 'configmaps', '-n', place], carol)).code === 0;

    test('the access begins at once, and Reeve ends it when its time is over', async () => {
      await stage.apply(namespaceObject(place));
      await inTime(() => stage.namespaceCondition(place)).toBe('True NothingProvided');
      const { code, stderr } = await runCommand([...words, '--for', '4h', ...apply]);
      expect(stderr).toMatch(/User\/cl-gr-carol gets view in namespace cl-gr-lent until \d{4}-/);
      expect(code).toBe(0);
      await inTime(canList).toBe(true);
      // The same grant once more moves its end.
      expect((await runCommand([...words, '--for', '1s', ...apply])).code).toBe(0);
      await inTime(canList).toBe(false);
      await inTime(
        async () =>
          await stage.kubectl('get', 'events', '-n', place, '--field-selector=reason=TemporaryAccess'),
      ).toMatch(/RoleBinding reeve-access-\w+ has ended/);
      expect(await stage.kubectl('get', 'rolebindings', '-n', place, '-o=name')).toBe('');
    });

    test('the rules of policies on RoleBindings apply to it', async () => {
      const rbac = { allowedRoleRefs: ['ClusterRole/edit'] };
      await stage.apply(policy(`${prefix}roles`, { match: { names: [place] }, rbac }));
      let attempts = 0;
      // Another person each time, because a RoleBinding that broke the rule before may be written again.
      const granted = async () =>
        await runCommand([...words, '--group', `${prefix}team-${(attempts += 1)}`, ...apply]);
      await inTime(granted).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('rbac.allowedRoleRefs') as unknown,
      });
    });

    test('nothing is granted where Reeve would not end it', async () => {
      const elsewhere = [...words.slice(0, -1), 'reeve-shared'];
      expect(await runCommand([...elsewhere, ...apply])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('Reeve does not manage namespace reeve-shared') as unknown,
      });
    });
  });

  describe('that grants the right to use a policy', () => {
    const name = `${prefix}use`;
    const words = ['grant', 'use', `policy/${name}`, '--group', `${prefix}red`];
    const role = `reeve-use-nspol-${name}`;
    const alice = person(cluster, `${prefix}alice`, `${prefix}red`);

    afterAll(async () => {
      const all = await stage.kubectl('get', 'clusterroles,clusterrolebindings', '-o=name');
      await stage.kubectl('delete', ...all.split('\n').filter((each) => each.includes(prefix)));
    });

    test('a grant prints objects that give the right to members of the group, and to no other user', async () => {
      const match = { namespaceSelector: { matchLabels: { [name]: 'yes' } } };
      await stage.apply(policy(name, { match, contents: { roleBindings: [roleBinding(name, 'readers')] } }));
      await grant(cluster, { name: `${prefix}namespaces`, rules: namespaceRules, groups: [`${prefix}red`] });
      await inTime(
        async () => (await stage.tryApply([namespaceObject(`${name}-1`, { [name]: 'yes' })], alice)).stderr,
      ).toContain(`verb "use" on namespacepolicies/${name}`);
      const { code, stdout, stderr } = await runCommand(words);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `Group/${prefix}red may decide which namespaces NamespacePolicy/${name} matches\n`,
      });
      await mustKubectl(['apply', '-f', '-'], { kubeconfig, input: stdout });
      await inTime(
        async () => (await stage.tryApply([namespaceObject(`${name}-1`, { [name]: 'yes' })], alice)).code,
      ).toBe(0);
    });

    test('a grant creates nothing that was not confirmed, and the same objects again without a change', async () => {
      const apply = [...words, '--user', 'bob', '--apply', `--kubeconfig=${kubeconfig}`];
      for (const answer of [undefined, 'yes']) {
        const refused = await runCommand(apply, answer);
        expect(refused.code).toBe(2);
        expect(refused.stderr).toContain('aborted, nothing was changed (--yes skips the question)\n');
        expect(refused.questions).toEqual(answer === undefined ? [] : ['Type "grant" to go on: ']);
      }
      expect((await runCommand(apply, 'grant')).stderr).toContain(`created ClusterRole ${role}\n`);
      expect(await runCommand([...apply, '--yes'])).toMatchObject({ code: 0, questions: [] });
    });

    test('a grant says that the policy does not exist, and grants the right all the same', async () => {
      const early = ['grant', 'use', `policy/${prefix}later`, '--user', 'bob', '--apply', '--yes'];
      const { code, stderr } = await runCommand([...early, `--kubeconfig=${kubeconfig}`]);
      expect(code).toBe(0);
      expect(stderr).toContain(`NamespacePolicy/${prefix}later does not exist now\n`);
    });

    test.each([
      [
        'without any right',
        [],
        `ClusterRole reeve-use-nspol-${prefix}other was not created: this account may not patch clusterroles\n`,
      ],
      [
        'who may write roles but does not hold the right',
        [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'patch', 'get'] }],
        `ClusterRole reeve-use-nspol-${prefix}other was not created: this account does not hold the right itself, so it may not hand it out\n`,
      ],
    ])('a grant is refused for a user %s, in a sentence', async (who, rules, sentence) => {
      const user = `${prefix}${who.split(' ').length}`;
      if (rules.length > 0)
        await grant(cluster, { name: `${prefix}namespaces-${user}`, rules, users: [user] });
      const own = await cluster.clientKubeconfig(user);
      const other = ['grant', 'use', `policy/${prefix}other`, '--user', 'bob', '--apply', '--yes'];
      await inTime(async () => await runCommand([...other, `--kubeconfig=${own}`])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(sentence) as unknown,
      });
    });
  });
});
