// Objects that Reeve creates once: left to their namespace at once, never created again, and by a record that no user forges.
import { beforeAll, describe, expect, test } from 'vitest';
import { kubectl, type KubectlOptions } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap, roleBinding, type Kind } from './support/objects.ts';
import { grant, namespaceRules, person } from './support/people.ts';
import { secret, shareOf, shareRef } from './support/secrets.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'ho-co-';
const record = 'reeve.dev/created-once';
const mode = 'CreateOnce';
const settings = (data: Readonly<Record<string, string>>) => ({ ...configMap('settings', data), mode });
const contents = {
  roleBindings: [{ ...roleBinding('first', 'starters'), mode }],
  resources: [settings({ level: 'info' })],
};
const both = ['/ConfigMap/settings', 'rbac.authorization.k8s.io/RoleBinding/first'];

describeControllers('objects that are created once', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const namesakes = new Namesakes(stage, prefix);
  const reeve = withReeve(stage, {});

  const recordOf = async (namespace: string): Promise<readonly string[]> => {
    const found = await stage.mustGet({ kind: 'Namespace', name: namespace });
    return found.metadata.annotations?.[record]?.split('\n').slice(1) ?? [];
  };
  const refTo = (name: string, kind: Kind = 'ConfigMap', object = 'settings') =>
    namesakes.objectIn(name, kind, object);
  const marksOf = async (name: string, kind?: Kind, object?: string): Promise<readonly string[]> => {
    const { labels = {}, annotations = {} } = (await stage.mustGet(refTo(name, kind, object))).metadata;
    return [...Object.keys(labels), ...Object.keys(annotations)];
  };

  test('a namespace gets the objects, which its users may then change and delete', async () => {
    const namespace = await namesakes.makeNamespace('start');
    await stage.apply(namesakes.policy('start', contents));
    await inTime(() => recordOf(namespace)).toEqual(both);
    await inTime(() => marksOf('start')).toEqual([]);
    await inTime(() => marksOf('start', 'RoleBinding', 'first')).toEqual([]);
    await stage.kubectl('patch', 'configmap', 'settings', '-n', namespace, '-p={"data":{"level":"debug"}}');
    await stage.kubectl('delete', 'rolebinding', 'first', '-n', namespace);
    expect(await stage.mustGet(refTo('start'))).toMatchObject({ data: { level: 'debug' } });
    await inTime(() => stage.condition(namesakes.refTo('start'))).toBe('True Synced');
  });

  test('the objects do not come back after a restart, or with another form of the policy', async () => {
    const namespace = namesakes.nameOf('start');
    const [before] = await stage.uidsOf(refTo('start'));
    await reeve.process.stop();
    await reeve.start({});
    await stage.apply(namesakes.policy('start', { ...contents, resources: [settings({ level: 'error' })] }));
    await stage.kubectl('annotate', 'namespace', namespace, 'ho-co-note=x');
    await namesakes.makeNamespace('later');
    await stage.apply(namesakes.policy('later', contents));
    await inTime(() => recordOf(namesakes.nameOf('later'))).toEqual(both);
    expect(await stage.uidsOf(refTo('start'))).toEqual([before]);
    expect(await stage.mustGet(refTo('start'))).toMatchObject({ data: { level: 'debug' } });
    expect(await stage.get(refTo('start', 'RoleBinding', 'first'))).toBeUndefined();
  });

  test('the objects stay when their policy is deleted', async () => {
    await stage.remove(namesakes.refTo('later'));
    expect(await stage.get(refTo('later'))).toBeDefined();
    expect(await stage.get(refTo('later', 'RoleBinding', 'first'))).toBeDefined();
  });

  test('an existing object of another user is left alone, and recorded', async () => {
    const namespace = await namesakes.makeNamespace('theirs');
    await stage.kubectl('create', 'configmap', 'settings', '-n', namespace, '--from-literal=level=mine');
    await stage.apply(namesakes.policy('theirs', { resources: contents.resources }));
    await inTime(() => recordOf(namespace)).toEqual(['/ConfigMap/settings']);
    expect(await stage.mustGet(refTo('theirs'))).toMatchObject({ data: { level: 'mine' } });
    await inTime(() => stage.condition(namesakes.refTo('theirs'))).toBe('True Synced');
  });

  test('a copy of a share does not follow its source', async () => {
    const namespace = await namesakes.makeNamespace('copy');
    await stage.apply(
      secret({ name: `${prefix}token` }, { value: 'one' }),
      shareOf(`${prefix}token`, { names: [namespace] }, { mode }),
    );
    await inTime(() => recordOf(namespace)).toEqual([`/Secret/${prefix}token`]);
    await inTime(() => marksOf('copy', 'Secret', `${prefix}token`)).toEqual([]);
    await stage.apply(secret({ name: `${prefix}token` }, { value: 'two' }));
    await stage.remove(shareRef(`${prefix}token`));
    const copy = await stage.mustGet(refTo('copy', 'Secret', `${prefix}token`));
    expect(copy).toMatchObject({ data: { value: Buffer.from('one').toString('base64') } });
  });

  describe('the record', () => {
    const lead = person(cluster, 'ho-co-lead');
    const patched = async (value: unknown, who: KubectlOptions = lead): Promise<string> => {
      const patch = JSON.stringify({ metadata: { annotations: { [record]: value } } });
      const args = ['patch', 'namespace', namesakes.nameOf('start'), '--type=merge', `-p=${patch}`];
      return (await kubectl(args, who)).stderr;
    };

    beforeAll(async () => {
      await grant(cluster, { name: 'ho-co-namespaces', rules: namespaceRules, users: ['ho-co-lead'] });
    });

    test('no other user writes it, not even an administrator', async () => {
      await inTime(() => patched(undefined)).toBe('');
      for (const who of [lead, { kubeconfig: cluster.kubeconfig }])
        expect(await patched('/ConfigMap/other', who)).toMatch(
          /reeve-guard-records|may not do that \(verb "use" on namespacepolicies\/ho-co-start\)/u,
        );
    });

    test('only a user who may use the policies removes it, and the namespace then gets the objects again', async () => {
      expect(await patched(null)).toContain('(verb "use" on namespacepolicies/ho-co-start)');
      expect(await patched(null, { kubeconfig: cluster.kubeconfig })).toContain(
        'NamespacePolicy ho-co-start now provides RoleBinding first here',
      );
      await inTime(() => stage.get(refTo('start', 'RoleBinding', 'first'))).toBeDefined();
      await inTime(() => recordOf(namesakes.nameOf('start'))).toEqual(both);
      expect(await stage.mustGet(refTo('start'))).toMatchObject({ data: { level: 'debug' } });
    });
  });
});
