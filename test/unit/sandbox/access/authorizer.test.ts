import { describe, expect, it } from 'vitest';
import { binding, cluster, role, user } from './cluster.ts';

const account = (namespace: string, name: string) => user(`system:serviceaccount:${namespace}:${name}`);
const get = (resource: string, namespace?: string, name?: string) => ({
  verb: 'get',
  group: '',
  resource,
  namespace,
  name,
});

describe('access', () => {
  const { access } = cluster(
    role('reader', 'a', { verbs: 'get', resources: 'secrets' }),
    role(
      'nodes',
      undefined,
      { verbs: 'get', resources: 'nodes secrets' },
      { verbs: 'get', urls: '/metrics' },
    ),
    binding(
      'local',
      'a',
      'Role reader',
      'User ann',
      'Group team',
      'ServiceAccount b/bot',
      'ServiceAccount /own',
    ),
    binding('local', 'b', 'nodes', 'User ann'),
    binding('elsewhere', 'b', 'Role reader', 'User bob'),
    binding('global', undefined, 'nodes', 'Group ops', 'ServiceAccount b/bot'),
    binding('nowhere', undefined, 'none', 'User ann'),
  );

  it.each([
    ['the user of a RoleBinding', user('ann'), get('secrets', 'a', 'x'), true],
    ['not in another namespace', user('ann'), get('secrets', 'c', 'x'), false],
    ['not in the whole cluster', user('ann'), get('secrets'), false],
    ['a ClusterRole in one namespace', user('ann'), get('nodes', 'b'), true],
    ['without its paths', user('ann'), { verb: 'get', path: '/metrics' }, false],
    ['a Role of another namespace', user('bob'), get('secrets', 'b'), false],
    ['a member of a group', user('carl', 'team'), get('secrets', 'a'), true],
    ['a user who is named as a group', user('team'), get('secrets', 'a'), false],
    ['a service account of another namespace', account('b', 'bot'), get('secrets', 'a'), true],
    ['a service account of the same namespace', account('a', 'own'), get('secrets', 'a'), true],
    ['its namesake', account('b', 'own'), get('secrets', 'a'), false],
    ['a ClusterRoleBinding in a namespace', user('dora', 'ops'), get('secrets', 'a'), true],
    ['a ClusterRoleBinding everywhere', user('dora', 'ops'), get('secrets'), true],
    ['its paths', user('dora', 'ops'), { verb: 'get', path: '/metrics' }, true],
    ['a service account everywhere', account('b', 'bot'), get('nodes'), true],
    ['a stranger', user('eve'), get('secrets', 'a'), false],
    ['a stranger, about themselves', user('eve'), { verb: 'get', path: '/api/v1' }, true],
    [
      'nobody',
      { username: 'system:anonymous', groups: ['system:unauthenticated'] },
      get('secrets', 'a'),
      false,
    ],
    ['an administrator', user('x', 'system:masters'), { verb: 'bind', group: 'x', resource: 'y' }, true],
    ['a hostile name', user('__proto__', 'constructor'), get('secrets', 'a'), false],
  ])('%s', (_, who, action, expected) => {
    expect(access.allows(who, action)).toBe(expected);
  });

  it('access follows changes of the store', () => {
    const changing = cluster();
    const may = () => changing.access.allows(user('ann'), get('secrets', 'a'));
    changing.put(binding('x', 'a', 'Role r', 'User ann'));
    expect(may()).toBe(false);
    changing.put(role('r', 'a', { verbs: 'get', resources: 'secrets' }));
    expect(may()).toBe(true);
    changing.put(role('r', 'a', { verbs: 'list', resources: 'secrets' }));
    expect(may()).toBe(false);
    changing.put(role('r', 'a', { verbs: 'get', resources: 'secrets' }));
    changing.put(binding('x', 'a', 'Role r', 'User bob', 'Group g'));
    expect(may()).toBe(false);
    changing.put(binding('x', 'a', 'Role r', 'User bob', 'User ann', 'User ann'));
    expect(may()).toBe(true);
    changing.remove('RoleBinding', 'x', 'a');
    expect(may()).toBe(false);
  });
});
