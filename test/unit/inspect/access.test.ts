import { describe, expect, test } from 'vitest';
import { accessOf } from '../../../src/inspect/input/access.ts';
import type { UnreadKind } from '../../../src/inspect/input/cluster-state.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { stateOfFiles } from '../../../src/inspect/input/file-state.ts';
import { findInstall } from '../../../src/cli/input/find-install.ts';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const use = { apiGroups: ['reeve.dev'], verbs: ['use'] };
const objects = [
  role(
    'ClusterRole',
    { name: 'use-team' },
    { ...use, resources: ['namespacepolicies'], resourceNames: ['team'] },
  ),
  role('Role', { name: 'use-intents', namespace: 'shop' }, { ...use, resources: ['securityintentbindings'] }),
  binding(
    'ClusterRoleBinding',
    { name: 'platform-use' },
    ['ClusterRole', 'use-team'],
    [
      { kind: 'Group', name: 'platform' },
      { kind: 'User', name: 'alice' },
    ],
  ),
  binding(
    'RoleBinding',
    { name: 'shop-use', namespace: 'shop' },
    ['Role', 'use-intents'],
    [
      { kind: 'ServiceAccount', name: 'deployer' },
      { kind: 'ServiceAccount', name: 'robot', namespace: 'ci' },
    ],
  ),
  binding(
    'RoleBinding',
    { name: 'lost', namespace: 'shop' },
    ['Role', 'gone'],
    [{ kind: 'User', name: 'bob' }],
  ),
];

const useTeam = { verb: 'use', group: 'reeve.dev', resource: 'namespacepolicies', name: 'team' };
const useBinding = {
  verb: 'use',
  group: 'reeve.dev',
  resource: 'securityintentbindings',
  name: 'x',
  namespace: 'shop',
};

describe('the roles and bindings of a state', () => {
  test.each([
    ['alice', [], useTeam, 'yes'],
    ['bob', ['platform'], useTeam, 'yes'],
    ['bob', ['red'], useTeam, 'no'],
    ['alice', [], { ...useTeam, name: 'other' }, 'no'],
    ['bob', ['system:masters'], useTeam, 'yes'],
    ['system:serviceaccount:shop:deployer', [], useBinding, 'yes'],
    ['system:serviceaccount:ci:robot', [], useBinding, 'yes'],
    ['system:serviceaccount:shop:robot', [], useBinding, 'no'],
    ['system:serviceaccount:shop:deployer', [], { ...useBinding, namespace: 'other' }, 'no'],
    ['bob', [], useBinding, 'no'],
  ])('the answer for %s of %j and the right %j is %s', (username, groups, action, expected) => {
    expect(accessOf(state()).mayDo({ username, groups }, action)).toBe(expected);
  });

  test('name each holder of a right, and the binding that gives it', () => {
    const access = accessOf(state());
    expect(access.holdersOf(useTeam)).toEqual([
      { subject: 'Group/platform', through: 'ClusterRoleBinding/platform-use' },
      { subject: 'User/alice', through: 'ClusterRoleBinding/platform-use' },
    ]);
    expect(access.holdersOf(useBinding).map(({ through }) => through)).toEqual([
      'RoleBinding/shop/shop-use',
      'RoleBinding/shop/shop-use',
    ]);
    expect(access.isComplete).toBe(true);
  });

  test('the roles and bindings of a state say that a right is unknown, not missing, if bindings could not be read', () => {
    const access = accessOf(state([{ kind: 'RoleBinding', reason: 'this account may not read it' }]));
    expect(access.isComplete).toBe(false);
    expect(access.mayDo({ username: 'alice', groups: [] }, useTeam)).toBe('yes');
    expect(access.mayDo({ username: 'bob', groups: [] }, useTeam)).toBe('unknown');
  });
});

function state(unread: readonly UnreadKind[] = []) {
  return { ...stateOfFiles(objects, findInstall([], {})), unread };
}

function role(kind: string, metadata: KubeObject['metadata'], rule: object) {
  return { ...rbac, kind, metadata, rules: [rule] };
}

function binding(
  kind: string,
  metadata: KubeObject['metadata'],
  [refKind, name]: readonly string[],
  subjects: readonly object[],
) {
  return { ...rbac, kind, metadata, roleRef: { kind: refKind, name }, subjects };
}

test('a right of the engine is found, although it has the path of a field', () => {
  const right = {
    ...useTeam,
    effect: 'bring namespace a under the policy',
    rule: 'steering',
    path: 'metadata',
  };
  expect(accessOf(state()).mayDo({ username: 'alice', groups: [] }, right)).toBe('yes');
});
