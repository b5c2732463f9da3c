// What an explanation says where something could not be read: never that there is none.
import { describe, expect, test, vi } from 'vitest';
import { findInstall } from '../../../src/cli/input/find-install.ts';
import { explainNamespace } from '../../../src/inspect/explain/explain-namespace.ts';
import { explainObject } from '../../../src/inspect/explain/explain-object.ts';
import { explainProvider } from '../../../src/inspect/explain/explain-provider.ts';
import type { LookedAt } from '../../../src/inspect/explain/looked-at.ts';
import { usersOf } from '../../../src/inspect/explain/rights.ts';
import { accessOf } from '../../../src/inspect/input/access.ts';
import { clusterState } from '../../../src/inspect/input/cluster-state.ts';
import { planningState } from '../../../src/inspect/input/loaded-state.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';

const forbidden = 'this account may not read it';
const meta = (name: string) => ({ name, uid: name, resourceVersion: '1' });
const objects: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: meta('a') },
  { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: meta('p'), spec: {} },
];

/** As a cluster whose lists of these kinds were refused. */
function lookedAt(...unread: readonly string[]): LookedAt {
  return lookedAtObjects(objects, unread);
}

function lookedAtObjects(all: readonly KubeObject[], unread: readonly string[] = []): LookedAt {
  const state = clusterState(
    {
      origin: 'test',
      isCluster: true,
      install: findInstall([], {}),
      unread: unread.map((kind) => ({ kind, reason: forbidden })),
      isServed: () => true,
      hasManagers: false,
    },
    all.filter(({ kind }) => !unread.includes(kind ?? '')),
  );
  const mayDo: LookedAt['mayDo'] = () => Promise.resolve('unknown');
  const now = new Date('2026-11-23T08:00:00Z');
  return { ...planningState(state, now), access: accessOf(state), mayDo, now };
}

const quota = {
  kind: 'object',
  type: { apiVersion: 'v1', kind: 'ResourceQuota' },
  namespace: 'a',
  name: 'q',
} as const;

describe('without namespaces', () => {
  const at = lookedAt('Namespace');
  const summary = `namespaces could not be read: ${forbidden}`;
  test('neither a namespace nor an object is missing', async () => {
    expect(await explainNamespace('a', at)).toMatchObject({ found: false, summary });
    expect(await explainObject(quota, at)).toMatchObject({ found: false, summary });
  });
});

test('a namespace of a cluster without our condition says that Reeve has not looked at it', async () => {
  expect((await explainNamespace('a', lookedAt())).notes).toEqual([
    'the namespace has no condition reeve.dev/Ready: Reeve has not looked at it yet, or does not run (see reeve check)',
  ]);
});

describe('without policies', () => {
  const at = lookedAt('NamespacePolicy');
  const unread = `NamespacePolicy could not be read: ${forbidden}`;
  test('a namespace is not without policies', async () => {
    expect((await explainNamespace('a', at)).summary).toBe(`namespace a: ${unread}`);
  });

  test('an object is not without a provider', async () => {
    expect((await explainObject(quota, at)).summary).toBe(`there is no ResourceQuota a/q: ${unread}`);
  });

  test('a policy is not missing', async () => {
    expect(await explainProvider('NamespacePolicy/p', at)).toMatchObject({ found: false, summary: unread });
  });
});

test('without the kind of an object, the object is not missing', async () => {
  expect((await explainObject(quota, lookedAt('ResourceQuota'))).summary).toBe(
    `ResourceQuota a/q: ResourceQuota could not be read: ${forbidden}`,
  );
});

test('without ClusterRoles, there may be more users of a policy', () => {
  const users = (at: LookedAt) => {
    const definition = at.cluster.provider('NamespacePolicy/p')?.definition;
    return definition && usersOf(definition, at);
  };
  expect(users(lookedAt())).toEqual(['Group/system:masters']);
  expect(users(lookedAt('ClusterRole'))).toEqual([
    'Group/system:masters',
    'perhaps others: roles or bindings could not be read',
  ]);
});

test('a group that may use a policy is named once', () => {
  const at = lookedAt();
  const definition = at.cluster.provider('NamespacePolicy/p')?.definition;
  const holders = [{ subject: 'Group/system:masters', through: 'ClusterRoleBinding/cluster-admin' }];
  const access = { ...at.access, isComplete: true, holdersOf: () => holders };
  expect(definition && usersOf(definition, { ...at, access })).toEqual([
    'Group/system:masters (ClusterRoleBinding/cluster-admin)',
  ]);
});

test('the summary of a missing namespace names it as it was written', async () => {
  const { summary } = await explainNamespace('x$&y', lookedAt());
  expect(summary).toMatch(/^there is no namespace x\$&y\. If it is created without labels: 1 of 1 /);
});

describe('with a quota and rules on RBAC', () => {
  const spec = {
    namespaces: { quota: { label: 'team', max: 1 } },
    rbac: { allowedRoleRefs: ['ClusterRole/view'], forbidWildcardRules: true },
  };
  /** Each two namespaces have one value of the label. */
  const atNamespaces = (count: number) =>
    lookedAtObjects([
      { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: meta('p'), spec },
      ...Array.from({ length: count }, (_, index) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { ...meta(`n${index}`), labels: { team: `t${index % (count / 2)}` } },
      })),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { ...meta('own'), namespace: 'n1' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
      },
    ]);

  test('a policy has one violation for each exceeded value, as its status has', async () => {
    const { summary, rules = [] } = await explainProvider('NamespacePolicy/p', atNamespaces(4));
    expect(summary).toBe('NamespacePolicy/p matches 4 namespaces; 3 violations');
    expect(rules.map(({ rule, namespace, message }) => [rule, namespace, message])).toEqual([
      ['namespaces.quota', undefined, '2 of 1 namespaces with team=t0: n0, n2'],
      ['namespaces.quota', undefined, '2 of 1 namespaces with team=t1: n1, n3'],
      ['rbac.allowedRoleRefs', 'n1', expect.stringContaining('RoleBinding own')],
    ]);
  });

  test('a policy is explained without a look at all objects for each namespace', async () => {
    const looks = async (count: number) => {
      const at = atNamespaces(count);
      const [namespaces, lists] = [
        vi.spyOn(at.cluster.snapshot(), 'namespaces'),
        vi.spyOn(at.state, 'objects'),
      ];
      await explainProvider('NamespacePolicy/p', at);
      return [namespaces.mock.calls.length, lists.mock.calls.length];
    };
    expect(await looks(20)).toEqual(await looks(4));
  });
});

describe('temporary access', () => {
  const target = {
    kind: 'object',
    type: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
    namespace: 'a',
    name: 'lent',
  } as const;
  const grantOf = (annotations: Readonly<Record<string, string>>): KubeObject => ({
    ...target.type,
    metadata: { ...meta('lent'), namespace: 'a', labels: { 'reeve.dev/temporary': 'true' }, annotations },
    roleRef: { kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  const until = grantOf({ 'reeve.dev/expires-at': '2026-11-23T12:00:00Z' });

  test.for<readonly [string, KubeObject, string]>([
    ['an end', until, 'that Reeve ends at 2026-11-23T12:00:00Z'],
    ['no end', grantOf({}), 'without an end: the annotation reeve.dev/expires-at has no time'],
  ])('access with %s is named with it, for the object and for its namespace', async ([, grant, end]) => {
    const at = lookedAtObjects([...objects, grant]);
    expect((await explainObject(target, at)).summary).toBe(`RoleBinding a/lent is temporary access ${end}`);
    expect((await explainNamespace('a', at)).notes).toContain(
      `RoleBinding lent gives temporary access (ClusterRole/edit for User/alice) ${end}`,
    );
  });

  test('access in another namespace, and the RoleBinding of a policy, are not named', async () => {
    const { metadata, ...rest } = until;
    const elsewhere = { ...rest, metadata: { ...metadata, namespace: 'b' } };
    const labels = { ...metadata.labels, 'app.kubernetes.io/managed-by': 'reeve' };
    const at = lookedAtObjects([...objects, elsewhere, { ...rest, metadata: { ...metadata, labels } }]);
    expect((await explainNamespace('a', at)).notes).toHaveLength(1);
  });
});
