// Tests ClusterRoles that gather the rules of others by their labels.
import { it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, role, type Rule } from './support/objects.ts';

onEachBackend('aggregated roles', (backend) => {
  it('an aggregated role collects roles by their labels', async () => {
    const name = freshName('aggregate');
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [name]: 'yes' } }] };
    const rules = [{ apiGroups: ['test.dev'], resources: ['things'], verbs: ['get'] }];
    await backend.api.must(
      backend.api.create(at('clusterroles', ''), { ...role('ClusterRole', name, []), aggregationRule }),
    );
    const part = role('ClusterRole', `${name}-part`, rules);
    await backend.api.must(
      backend.api.create(at('clusterroles', ''), {
        ...part,
        metadata: { ...part.metadata, labels: { [name]: 'yes' } },
      }),
    );
    await eventually(async () => (await backend.api.get(at('clusterroles', '', name))).body['rules']).toEqual(
      rules,
    );
    for (const made of [name, `${name}-part`]) await backend.api.delete(at('clusterroles', '', made));
  });

  it('two ClusterRoles that gather each other settle', async () => {
    const [one, other] = [freshName('one'), freshName('other')];
    const gathering = (name: string, of: string, rules: readonly Rule[]) => ({
      ...role('ClusterRole', name, rules),
      metadata: { name, labels: { [name]: 'yes' } },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [of]: 'yes' } }] },
    });
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
    await backend.api.must(backend.api.create(at('clusterroles', ''), gathering(one, other, [])));
    await backend.api.must(backend.api.create(at('clusterroles', ''), gathering(other, one, rules)));
    const version = async (name: string): Promise<string> =>
      (await backend.api.must(backend.api.get(at('clusterroles', '', name)))).metadata.resourceVersion;
    let last = '';
    await eventually(async () => {
      const now = `${await version(one)} ${await version(other)}`;
      const isSame = now === last;
      last = now;
      return isSame;
    }).toBe(true);
    for (const made of [one, other]) await backend.api.delete(at('clusterroles', '', made));
  });
});
