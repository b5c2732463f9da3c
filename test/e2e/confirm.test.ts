// `reeve confirm` on a real API server: what it lists, what its annotation allows, and what users of few rights read.
import { describe, expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { runCommand } from './support/command.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject } from './support/objects.ts';
import { grant } from './support/people.ts';
import { provider, type Provider } from './support/provider.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'cl-cf-';

describeControllers('a confirmation', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const admin = `--kubeconfig=${cluster.kubeconfig}`;
  const reeve = withReeve(stage);

  async function prepared(group: string, count: number): Promise<readonly [Provider, readonly string[]]> {
    const name = `${prefix}${group}`;
    const it = provider('NamespacePolicy', name);
    const names = Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
    await stage.apply(...names.map((each) => namespaceObject(each, { [name]: 'yes' })));
    await stage.apply(it.write({ namespaceSelector: { matchLabels: { [name]: 'yes' } } }));
    await inTime(() => stage.ownersOf(...names.map(it.objectIn))).toEqual(
      names.map(() => `NamespacePolicy/${name}`),
    );
    await inTime(() => stage.condition(it.ref)).toBe('True Synced');
    return [it, names];
  }

  /** All at once, because Reeve does not run then: no single write is too large. */
  async function leave({ ref }: Provider, names: readonly string[]): Promise<void> {
    await reeve.process.stop();
    await stage.inEmergency('label', 'namespace', ...names, `${ref.name}-`);
    await reeve.start();
    await inTime(() => stage.condition(ref, 'Stalled')).toBe('True TooManyDeletions');
  }

  describe('of held deletions', () => {
    const name = `${prefix}held`;
    const args = ['confirm', `policy/${name}`, admin];
    let it: Provider;
    let names: readonly string[];

    test('a confirmation of held deletions lists them, and changes nothing without the number as the answer', async () => {
      [it, names] = await prepared('held', 4);
      await leave(it, names);
      const listed = [
        `NamespacePolicy/${name}: 4 objects in 4 namespaces would be deleted, and maxDeletions is 2`,
        ...names.map((each) => `  ${each}  RoleBinding/${name}`),
        '',
      ].join('\n');
      for (const answer of [undefined, 'yes', '5']) {
        const refused = await runCommand(args, answer);
        expect(refused).toMatchObject({ code: 2, stdout: listed });
        expect(refused.questions).toEqual(answer === undefined ? [] : ['Type "4" to allow it: ']);
      }
      expect((await stage.mustGet(it.ref)).metadata.annotations).not.toHaveProperty(
        'reeve.dev/confirm-deletions',
      );
    });

    test('a confirmation of held deletions is refused for users of few rights, in a sentence', async () => {
      const nothing = await cluster.clientKubeconfig(`${prefix}nothing`);
      const blind = await runCommand(['confirm', `policy/${name}`, `--kubeconfig=${nothing}`]);
      expect(blind).toMatchObject({ code: 3, stdout: '' });
      expect(blind.stderr).toContain('NamespacePolicy could not be read: this account may not read it\n');
      const reader = `${prefix}reader`;
      const own = `--kubeconfig=${await cluster.clientKubeconfig(reader)}`;
      const some = [{ apiGroups: ['reeve.dev', ''], resources: ['*'], verbs: ['get', 'list'] }];
      await grant(cluster, { name: reader, rules: some, users: [reader] });
      await inTime(async () => await runCommand(['confirm', `policy/${name}`, own, '--yes'])).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining(
          `RoleBinding could not be read: this account may not read it\n`,
        ) as unknown,
      });
      const { stderr } = await runCommand(['confirm', `policy/${name}`, own, '--yes']);
      expect(stderr).toContain(
        `so how many objects of NamespacePolicy/${name} would be deleted is not known\n`,
      );
      const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }];
      await grant(cluster, { name: reader, rules: all, users: [reader] });
      await inTime(async () => await runCommand(['confirm', `policy/${name}`, own, '--yes'])).toMatchObject({
        code: 1,
        stderr: `NamespacePolicy/${name} was not annotated: this account may not patch namespacepolicies\n`,
      });
      await stage.kubectl('delete', 'clusterrole,clusterrolebinding', reader);
    });

    test('a confirmation of held deletions lets Reeve delete that many objects, once', async () => {
      expect(await runCommand(args, '4')).toMatchObject({
        code: 0,
        stderr: `NamespacePolicy/${name} has the annotation reeve.dev/confirm-deletions: "4" now\n`,
      });
      await inTime(() => stage.ownersOf(...names.map(it.objectIn))).toEqual(names.map(() => 'absent'));
      await inTime(async () => (await stage.mustGet(it.ref)).status?.confirmationUsed).toBe('4');
      expect(await runCommand(args)).toMatchObject({
        code: 0,
        stdout: `NamespacePolicy/${name}: nothing would be deleted: it wants all objects that it has\n`,
      });
      await stage.kubectl('label', 'namespace', ...names, `${name}=yes`);
      await inTime(() => stage.condition(it.ref)).toBe('True Synced');
      await inTime(() => stage.ownersOf(...names.map(it.objectIn))).toEqual(
        names.map(() => `NamespacePolicy/${name}`),
      );
      await leave(it, names);
      const json = await runCommand([...args, '-o', 'json', '--yes']);
      expect(json.code).toBe(0);
      expect(JSON.parse(json.stdout)).toMatchObject({ outcome: 'confirmed', annotation: '04' });
      await inTime(() => stage.ownersOf(...names.map(it.objectIn))).toEqual(names.map(() => 'absent'));
    });
  });

  test('before a deletion lets the webhook accept it, and Reeve delete all objects', async () => {
    const [it, names] = await prepared('gone', 3);
    const { name } = it.ref;
    await expect(stage.kubectl('delete', 'nspol', name)).rejects.toThrow(/maxDeletions is 2/);
    const args = ['confirm', `nspol/${name}`, admin];
    expect(await runCommand(args)).toMatchObject({ code: 0 });
    const { code, stdout } = await runCommand([...args, '--for-deletion'], '3');
    expect(code).toBe(0);
    expect(stdout).toContain(
      `NamespacePolicy/${name}: its deletion would delete 3 objects in 3 namespaces, and maxDeletions is 2\n`,
    );
    await stage.kubectl('delete', 'nspol', name, '--timeout=60s');
    expect(await stage.ownersOf(...names.map(it.objectIn))).toEqual(names.map(() => 'absent'));
    expect(await runCommand(args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(`^there is no NamespacePolicy/${name}`) as unknown,
    });
  });
});
