// `reeve adopt` on a real API server: what it shows, which objects it marks, and what users of few rights read.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { runCommand } from './support/command.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, source, type Ref, type WrittenObject } from './support/objects.ts';
import { grant } from './support/people.ts';
import { provider, providerSource } from './support/provider.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'cl-ad-';
const canary = 'canary-93c5';

describeControllers('an adoption', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const admin = `--kubeconfig=${cluster.kubeconfig}`;
  withReeve(stage);

  const policyName = `${prefix}policy`;
  const policyNamespaces = [1, 2, 3].map((number) => `${policyName}-${number}`);
  const it = provider('NamespacePolicy', policyName);

  function stranger(namespace: string, finalizers: readonly string[] = []): WrittenObject {
    const apiGroup = 'rbac.authorization.k8s.io';
    return {
      apiVersion: `${apiGroup}/v1`,
      kind: 'RoleBinding',
      metadata: { name: policyName, namespace, labels: { team: 'x' }, finalizers },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup, kind: 'User', name: 'bob' }],
    };
  }

  async function conflict(ref: Ref): Promise<void> {
    await inTime(() => stage.condition(ref)).toBe('False Conflicts');
  }

  test('an adoption shows the objects that are in the way, and marks none without an answer', async () => {
    await stage.apply(...policyNamespaces.map((name) => namespaceObject(name, { [policyName]: 'yes' })));
    const [first = '', second = '', third = ''] = policyNamespaces;
    await stage.apply(stranger(first), stranger(second), stranger(third, ['example.com/keep']));
    await stage.apply(it.write({ namespaceSelector: { matchLabels: { [policyName]: 'yes' } } }));
    await conflict(it.ref);
    const args = ['adopt', '--policy', policyName, admin];
    const shown = await runCommand([...args, '--dry-run']);
    expect(shown).toMatchObject({ code: 1, stderr: '', questions: [] });
    expect(shown.stdout).toContain(
      `NamespacePolicy/${policyName}: 3 objects of other clients are in its way.`,
    );
    expect(shown.stdout).toContain('2 objects can be adopted, as follows; 1 cannot.');
    expect(shown.stdout).toContain('exists with finalizers');
    for (const answer of [undefined, 'yes']) {
      const refused = await runCommand(args, answer);
      expect(refused).toMatchObject({ code: 2, stdout: shown.stdout });
      expect(refused.stderr).toBe('aborted, nothing was changed (--yes skips the question)\n');
    }
    expect(await runCommand([...args, '-o', 'json'], 'adopt')).toMatchObject({ code: 2, questions: [] });
    expect(await stage.ownersOf(...policyNamespaces.map(it.objectIn))).toEqual([
      'nobody',
      'nobody',
      'nobody',
    ]);
  });

  test('an adoption with -f marks objects for a policy of a file before it is applied', async () => {
    const name = `${prefix}early`;
    const early = provider('NamespacePolicy', name);
    await stage.apply(namespaceObject(name));
    const binding = stranger(name);
    await stage.apply({ ...binding, metadata: { ...binding.metadata, name } });
    const policy = early.write({ names: [name] });
    const file = join(await mkdtemp(join(tmpdir(), 'reeve-adopt-')), 'policy.yaml');
    await writeFile(file, JSON.stringify(policy));
    expect(await runCommand(['adopt', '-f', file, admin, '--yes'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        `NamespacePolicy/${name}: 1 object of other clients is in its way.`,
      ) as unknown,
      stderr: `marked RoleBinding ${name}/${name}\n`,
    });
    await stage.apply(policy);
    await inTime(() => stage.ownersOf(early.objectIn(name))).toEqual([`NamespacePolicy/${name}`]);
    await rm(dirname(file), { recursive: true });
    await stage.remove(early.ref);
  });

  test('an adoption is refused for users of few rights, in a sentence', async () => {
    const nothing = await cluster.clientKubeconfig(`${prefix}nothing`);
    const blind = await runCommand(['adopt', '--policy', policyName, `--kubeconfig=${nothing}`, '--yes']);
    expect(blind).toMatchObject({ code: 3, stdout: '' });
    expect(blind.stderr).toContain('NamespacePolicy could not be read: this account may not read it\n');
    const reader = `${prefix}reader`;
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }];
    await grant(cluster, { name: reader, rules, users: [reader] });
    const own = `--kubeconfig=${await cluster.clientKubeconfig(reader)}`;
    await inTime(async () => {
      const { code, stderr } = await runCommand(['adopt', '--policy', policyName, own, '--yes']);
      return { code, stderr: stderr.split('\n')[0] };
    }).toEqual({
      code: 1,
      stderr: `RoleBinding ${policyNamespaces[0] ?? ''}/${policyName} was not marked: this account may not patch rolebindings`,
    });
    await stage.kubectl('delete', 'clusterrole,clusterrolebinding', reader);
  });

  test('an adoption marks the objects of a namespace, then all, and Reeve takes them over', async () => {
    const objects = policyNamespaces.map(it.objectIn);
    const [first = ''] = policyNamespaces;
    const args = ['adopt', '--policy', policyName, admin];
    const one = await runCommand([...args, '-n', first], 'adopt');
    expect(one).toMatchObject({ code: 0, questions: ['Type "adopt" to go on: '] });
    expect(one.stderr).toBe(`marked RoleBinding ${first}/${policyName}\n`);
    const owned = `NamespacePolicy/${policyName}`;
    await inTime(() => stage.ownersOf(...objects)).toEqual([owned, 'nobody', 'nobody']);
    const json = await runCommand([...args, '-o', 'json', '--yes']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: 'Adoption',
      adoptable: 1,
      marked: [{ kind: 'RoleBinding' }],
    });
    await inTime(() => stage.ownersOf(...objects)).toEqual([owned, owned, 'nobody']);
    const { labels } = (await stage.mustGet(it.objectIn(first))).metadata;
    expect(labels).toMatchObject({ team: 'x', 'reeve.dev/adopt': 'true' });
    const free = { ...stranger(policyNamespaces[2] ?? '') };
    await stage.kubectl(
      'patch',
      'rolebinding',
      policyName,
      '-n',
      free.metadata.namespace ?? '',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    );
    expect(await runCommand([...args, '--yes'])).toMatchObject({ code: 0 });
    await inTime(() => stage.condition(it.ref)).toBe('True Synced');
    const done = await runCommand(args, 'adopt');
    expect(done).toEqual({
      code: 0,
      stdout: `No object of another client is in the way of ${owned}.\n`,
      stderr: '',
      questions: [],
    });
  });

  test('an adoption of Secrets shows the names of keys, and no value', async () => {
    const name = `${prefix}share`;
    const share = provider('SecretShare', name);
    await stage.apply(source(providerSource, { user: 'ann' }));
    await stage.apply(namespaceObject(`${name}-1`, { [name]: 'yes' }));
    const old = { ...source(name, { password: canary }), metadata: { name, namespace: `${name}-1` } };
    await stage.apply(old);
    await stage.apply(share.write({ namespaceSelector: { matchLabels: { [name]: 'yes' } } }));
    await conflict(share.ref);
    const args = ['adopt', '--share', name, admin];
    for (const format of ['text', 'json']) {
      const { stdout, stderr } = await runCommand([...args, '--dry-run', '-o', format]);
      expect(stdout).toContain('data.password');
      expect(stdout).toContain('data.user');
      expect(stdout + stderr).not.toContain(canary);
      expect(stdout + stderr).not.toContain(Buffer.from(canary).toString('base64'));
    }
    expect(await runCommand([...args, '--yes'])).toMatchObject({
      code: 0,
      stderr: `marked Secret ${name}-1/${name}\n`,
    });
    await inTime(() => stage.ownersOf(share.objectIn(`${name}-1`))).toEqual([`SecretShare/${name}`]);
    await stage.remove({ kind: 'Secret', name: providerSource, namespace: 'reeve-shared' });
  });

  test('an adoption of a policy that does not exist names the nearest one', async () => {
    expect(await runCommand(['adopt', '--policy', `${policyName.slice(0, -1)}i`, admin])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `there is no NamespacePolicy/${policyName.slice(0, -1)}i; did you mean ${policyName}?\n`,
    });
  });
});
