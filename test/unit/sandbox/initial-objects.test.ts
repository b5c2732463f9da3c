import { kindDefinitions } from '../../../src/api/kinds.ts';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { aggregatedRules } from '../../../src/sandbox/controllers/upkeep.ts';
import { kindsServedFrom } from '../../../src/sandbox/kinds/served-kinds.ts';
import { MemoryStore } from '../../../src/sandbox/store.ts';
import { binding, cluster, role, user } from './access/cluster.ts';
import { builtInRoles } from '../../../src/sandbox/sandbox.ts';

const { access } = cluster(
  binding('admin', 'a', 'admin', 'User admin'),
  binding('edit', 'a', 'edit', 'User edit'),
  binding('view', 'a', 'view', 'User view'),
);

/** In the order of the store. */
function inOrder(roles: readonly KubeObject[]): readonly KubeObject[] {
  return roles.toSorted((a, b) => String(a.metadata.name).localeCompare(String(b.metadata.name)));
}

describe('the built-in roles', () => {
  it.each([
    ['create deployments apps', 'edit admin'],
    ['get deployments apps', 'view edit admin'],
    ['create jobs batch', 'edit admin'],
    ['list pods', 'view edit admin'],
    ['list secrets', 'edit admin'],
    ['create rolebindings rbac.authorization.k8s.io', 'admin'],
    ['get roles rbac.authorization.k8s.io', 'admin'],
    ['create localsubjectaccessreviews authorization.k8s.io', 'admin'],
    ['create networkpolicies networking.k8s.io', 'edit admin'],
    ['get resourcequotas', 'view edit admin'],
    ['update resourcequotas', ''],
    ['create limitranges', ''],
    ['get namespaces', 'view edit admin'],
    ['delete namespaces', ''],
    ['get leases coordination.k8s.io', 'edit admin'],
    ['impersonate serviceaccounts', 'edit admin'],
    ['create selfsubjectaccessreviews authorization.k8s.io', 'view edit admin stranger'],
    ['create subjectaccessreviews authorization.k8s.io', ''],
    ['bind clusterroles rbac.authorization.k8s.io', ''],
  ])('%s permits %s', (what, expected) => {
    const [verb = '', resource = '', group = ''] = what.split(' ');
    const who = ['view', 'edit', 'admin', 'stranger'].filter((name) =>
      access.allows(user(name), { verb, group, resource, namespace: 'a' }),
    );
    expect(who.join(' ')).toBe(expected);
  });

  it('the built-in roles have the rules that aggregation computes', () => {
    const all = inOrder(builtInRoles().filter(({ kind }) => kind === 'ClusterRole'));
    const gathering = all.filter((each) => each['aggregationRule'] !== undefined);
    expect(gathering.map(({ metadata }) => metadata.name)).toEqual(['admin', 'edit', 'view']);
    for (const each of gathering) expect(aggregatedRules(each, all)).toEqual(each['rules']);
  });

  it('the built-in roles are valid objects', () => {
    const kinds = kindsServedFrom(new MemoryStore(), kindDefinitions);
    for (const object of builtInRoles()) {
      const kind = kinds.ofKind(object.apiVersion ?? '', object.kind ?? '');
      const prepared = kind?.rules.prepare(object, undefined, new Date(0));
      expect(prepared).toEqual(object);
      expect(kind?.rules.problems(object, undefined)).toEqual([]);
    }
  });
});

describe('aggregation', () => {
  const labeled = (name: string, labels: Record<string, string>, verbs: string) => {
    const plain = role(name, undefined, { verbs, resources: 'pods' });
    return { ...plain, metadata: { name, labels } };
  };
  const gathering = (name: string, ...clusterRoleSelectors: readonly object[]) => ({
    ...labeled(name, { to: 'x' }, 'own'),
    aggregationRule: { clusterRoleSelectors },
  });
  const others = [
    labeled('c', { to: 'x' }, 'get'),
    labeled('b', { to: 'x', also: '' }, 'list'),
    labeled('a', { to: 'y' }, 'watch'),
    labeled('d', { to: 'y' }, 'get'),
  ];

  it.each([
    [[{ matchLabels: { to: 'x' } }], 'list get'],
    [[{ matchLabels: { to: 'x' } }, { matchLabels: { to: 'y' } }], 'list get watch'],
    [[{ matchExpressions: [{ key: 'also', operator: 'Exists' }] }], 'list'],
    [[{}], 'watch list get'],
    [[], ''],
    [[{ matchLabels: { constructor: 'x' } }], ''],
  ])('%j', (selectors, expected) => {
    const own = gathering('z', ...selectors);
    const rules = aggregatedRules(own, inOrder([...others, own]));
    expect(rules?.map((rule) => String(rule['verbs'])).join(' ')).toBe(expected);
  });

  it('aggregation leaves a plain role unchanged', () => {
    expect(aggregatedRules(labeled('a', {}, 'get'), others)).toBeUndefined();
  });
});
