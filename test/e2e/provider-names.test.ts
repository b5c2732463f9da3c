// The labels and the annotation to find the objects of a policy or share by, and when they expire.
import { expect, test } from 'vitest';
import { kubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap, roleBinding, share, source, type Ref } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'pn-';

describeControllers('the names of providers', () => {
  const stage = new Stage(sharedCluster(), prefix);
  const namesakes = new Namesakes(stage, prefix);
  withReeve(stage);

  const selected = async (label: string): Promise<readonly string[]> => {
    const columns = '-o=jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}';
    const listed = await stage.kubectl('get', 'rolebindings,secrets,configmaps', '-A', '-l', label, columns);
    return listed.split('\n').filter(Boolean).sort();
  };
  const expiryOf = async (ref: Ref): Promise<string | undefined> =>
    (await stage.get(ref))?.metadata.annotations?.['reeve.dev/expires-at'];

  test('kubectl get -l lists what a policy or a share keeps, in all namespaces', async () => {
    const contents = { roleBindings: [roleBinding('team', 'readers')], resources: [configMap('team', {})] };
    await namesakes.provide('found', contents);
    await stage.apply(
      source('pn-source', { user: 'ann' }),
      share('pn-registry', {
        source: { namespace: 'reeve-shared', name: 'pn-source' },
        targets: { names: ['pn-found'] },
      }),
    );
    await inTime(() => selected('reeve.dev/secretshare=pn-registry')).toEqual(['Secret pn-found/pn-source']);
    expect(await selected('reeve.dev/namespacepolicy=pn-found')).toEqual([
      'ConfigMap pn-found/team',
      'RoleBinding pn-found/team',
    ]);
  });

  test('the labels name the policy that took over, and are removed from what it leaves behind', async () => {
    const contents = { roleBindings: [roleBinding('team', 'readers')], resources: [configMap('team', {})] };
    const namespace = await namesakes.provide('first', contents);
    const kept = [`ConfigMap ${namespace}/team`, `RoleBinding ${namespace}/team`];
    const second = namesakes.policy('first', contents, { deletionPolicy: 'Orphan' });
    await stage.apply({ ...second, metadata: { name: 'pn-second' } });
    await stage.remove(namesakes.refTo('first'));
    await inTime(() => selected('reeve.dev/namespacepolicy=pn-second')).toEqual(kept);
    expect(await selected('reeve.dev/namespacepolicy=pn-first')).toEqual([]);
    await stage.remove({ kind: 'NamespacePolicy', name: 'pn-second' });
    await inTime(() => selected('reeve.dev/namespacepolicy')).not.toEqual(expect.arrayContaining(kept));
    expect(await stage.get({ kind: 'ConfigMap', name: 'team', namespace })).toBeDefined();
  });

  test('a RoleBinding carries the time at which it expires, also after a change of the policy', async () => {
    const binding = (fields: object): object => ({
      roleBindings: [{ ...roleBinding('team', 'readers'), ...fields }],
    });
    await namesakes.provide('until', binding({ expiresAt: '2099-01-31T02:00:00+02:00' }));
    const ref = namesakes.objectIn('until', 'RoleBinding', 'team');
    expect(await expiryOf(ref)).toBe('2099-01-31T00:00:00Z');
    await stage.apply(namesakes.policy('until', binding({ expiresAt: '2098-12-31T00:00:00Z' })));
    await inTime(() => expiryOf(ref)).toBe('2098-12-31T00:00:00Z');
    const [uid] = await stage.uidsOf(ref);
    await stage.apply(namesakes.policy('until', binding({})));
    await inTime(() => expiryOf(ref)).toBeUndefined();
    expect(await stage.uidsOf(ref)).toEqual([uid]);
  });

  test('no other user sets the labels, on any object', async () => {
    await namesakes.makeNamespace('other');
    for (const what of [['namespace/pn-other'], ['serviceaccount/default', '-n', 'pn-other']]) {
      const refused = await kubectl(['label', ...what, 'reeve.dev/secretshare=registry'], stage.cluster);
      expect(refused.stderr).toContain('only Reeve sets them: leave them out');
    }
  });
});
