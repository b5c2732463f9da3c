// Lists: an object or a subject for each item of an annotation, and exactly these when the list changes.
import { expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'ho-li-';
const key = 'ho-li-groups';
const items = `namespaceObject.metadata.annotations['${key}'].split(',').map(g, g.trim())`;
const contents = {
  roleBindings: [
    {
      name: 'edit-${item}',
      forEach: items,
      roleRef: { kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'Group', name: 'ad-${item}' }],
    },
    {
      name: 'viewers',
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'Group', name: 'ad-${item}', forEach: items }],
    },
  ],
  resources: [{ ...configMap('settings-${item}', { item: '${item}' }), forEach: items }],
};

describeControllers('lists', () => {
  const stage = new Stage(sharedCluster(), prefix);
  const namesakes = new Namesakes(stage, prefix);
  withReeve(stage);

  const annotate = async (namespace: string, list: string): Promise<string> =>
    await stage.kubectl('annotate', 'namespace', namespace, '--overwrite', `${key}=${list}`);

  /** The objects of the policy in the namespace, as `viewers: ad-red ad-blue`. */
  const provided = async (namespace: string): Promise<readonly string[]> => {
    const path = '{range .items[*]}{.metadata.name}:{range .subjects[*]} {.name}{end}{"\\n"}{end}';
    const mine = ['-n', namespace, '-l', 'app.kubernetes.io/managed-by=reeve', `-o=jsonpath=${path}`];
    const lines = await stage.kubectl('get', 'rolebindings,configmaps', ...mine);
    return lines
      .split('\n')
      .filter((line) => line !== '')
      .toSorted();
  };

  test('a namespace gets one object for each item, and one subject for each item', async () => {
    const namespace = await namesakes.makeNamespace('teams');
    await annotate(namespace, 'red, blue');
    await stage.apply(namesakes.policy('teams', contents));
    await inTime(() => provided(namespace)).toEqual([
      'edit-blue: ad-blue',
      'edit-red: ad-red',
      'settings-blue:',
      'settings-red:',
      'viewers: ad-red ad-blue',
    ]);
    await inTime(() => stage.condition(namesakes.refTo('teams'))).toBe('True Synced');
    const refs = ['edit-red', 'edit-blue'].map((name) => namesakes.objectIn('teams', 'RoleBinding', name));
    expect(await stage.ownersOf(...refs)).toEqual(refs.map(() => `NamespacePolicy/${namespace}`));
  });

  test('another list changes exactly what its items stand for', async () => {
    const namespace = namesakes.nameOf('teams');
    const kept = namesakes.objectIn('teams', 'RoleBinding', 'edit-blue');
    const [before] = await stage.uidsOf(kept);
    await annotate(namespace, 'blue,green');
    await inTime(() => provided(namespace)).toEqual([
      'edit-blue: ad-blue',
      'edit-green: ad-green',
      'settings-blue:',
      'settings-green:',
      'viewers: ad-blue ad-green',
    ]);
    expect(await stage.uidsOf(kept)).toEqual([before]);
  });

  test.each([
    ['an empty item', 'blue,,green', 'forEach has an empty item'],
    ['an item twice', 'blue,blue', 'forEach has items that give the name "edit-blue" twice'],
    ['an item of no legal name', 'Blue', 'metadata.name is "settings-Blue"'],
    ['a name that Kubernetes reserves', '../x', 'name is "edit-../x"'],
  ])('a list with %s is refused, and nothing changes', async (_, list, reason) => {
    const namespace = namesakes.nameOf('teams');
    await expect(annotate(namespace, list)).rejects.toThrow(reason);
    expect(await provided(namespace)).toContain('edit-green: ad-green');
  });

  test('a list that became wrong past the webhooks keeps its objects, and the status names the namespace', async () => {
    const namespace = namesakes.nameOf('teams');
    await stage.inEmergency('annotate', 'namespace', namespace, '--overwrite', `${key}=blue,`);
    await inTime(() => stage.condition(namesakes.refTo('teams'))).toBe('False Failed');
    expect((await stage.failures(namesakes.refTo('teams'))).join('\n')).toContain(
      `(from annotation ${key}) has an empty item`,
    );
    expect(await provided(namespace)).toContain('edit-green: ad-green');
  });

  test('without the annotation, a namespace has none of the objects', async () => {
    const namespace = namesakes.nameOf('teams');
    await stage.kubectl('annotate', 'namespace', namespace, `${key}-`);
    await inTime(() => provided(namespace)).toEqual([]);
    await inTime(() => stage.condition(namesakes.refTo('teams'))).toBe('True Synced');
    expect(await stage.failures(namesakes.refTo('teams'))).toEqual([]);
  });
});
