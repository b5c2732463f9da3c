import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { assertNoEscalation } from '../../../../src/sandbox/access/authorizer.ts';
import { ApiError } from '../../../../src/sandbox/api-error.ts';
import { binding, cluster, role, user, type Cluster } from './cluster.ts';
import type { User } from '../../../../src/sandbox/access/users.ts';

const rbac = ['rbac.authorization.k8s.io'];
const bob = user('bob', 'x');

function write(target: Cluster, who: User, object: KubeObject, stored?: KubeObject): string {
  try {
    const resource = target.resource(object.kind ?? '');
    const { namespace } = object.metadata;
    assertNoEscalation(target.access, {
      user: who,
      resource,
      namespace,
      object,
      stored,
    });
    return 'allowed';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.status.code} ${error.status.message}`;
  }
}

const attempt =
  'user "bob" (groups=["x" "system:authenticated"]) is attempting to grant RBAC permissions not';
const refused = (what: string, ...lines: readonly string[]) =>
  `403 ${what} is forbidden: ${attempt} currently held:\n${lines.join('\n')}`;

describe('roles', () => {
  const held = cluster(
    binding('b', 'a', 'admin', 'User bob'),
    binding('named', 'a', 'Role named', 'User bob'),
    role('named', 'a', { verbs: 'get', resources: 'nodes', names: 'n1 n2' }),
    binding('scale', 'a', 'Role scale', 'User bob'),
    role('scale', 'a', { verbs: '*', groups: ['x'], resources: '*/scale' }),
    role(
      'roles',
      undefined,
      { verbs: 'create', groups: rbac, resources: 'clusterroles' },
      { verbs: 'get', urls: '/a*' },
    ),
    binding('roles', undefined, 'roles', 'User bob'),
  );
  const name = 'roles.rbac.authorization.k8s.io "r"';

  it.each([
    ['what is held', role('r', 'a', { verbs: 'get list', resources: 'secrets configmaps' }), 'allowed'],
    [
      'elsewhere',
      role('r', 'b', { verbs: 'get', resources: 'secrets' }),
      refused(name, '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'),
    ],
    ['nothing', role('r', 'b'), 'allowed'],
    [
      'a kind',
      role('r', 'a', { verbs: 'get list', resources: 'nodes' }),
      refused(name, '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]}'),
    ],
    ['names that are held', role('r', 'a', { verbs: 'get', resources: 'nodes', names: 'n2' }), 'allowed'],
    [
      'another name',
      role('r', 'a', { verbs: 'get', resources: 'nodes', names: 'n2 n3' }),
      refused(name, '{APIGroups:[""], Resources:["nodes"], ResourceNames:["n3"], Verbs:["get"]}'),
    ],
    [
      'all',
      role('r', 'a', { verbs: '*', groups: ['*'], resources: '*' }),
      refused(name, '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'),
    ],
    [
      'some of it',
      role(
        'r',
        'a',
        { verbs: 'list get', resources: 'secrets nodes pods/status' },
        { verbs: 'get', groups: ['a'], resources: 'b' },
      ),
      refused(
        name,
        '{APIGroups:[""], Resources:["nodes"], Verbs:["list" "get"]}',
        '{APIGroups:["a"], Resources:["b"], Verbs:["get"]}',
      ),
    ],
    [
      'subresources',
      role('r', 'a', { verbs: 'get', groups: ['x'], resources: '*/scale y/scale' }),
      'allowed',
    ],
    [
      'other subresources',
      role('r', 'a', { verbs: 'get', groups: ['x'], resources: 'y/status' }),
      refused(name, '{APIGroups:["x"], Resources:["y/status"], Verbs:["get"]}'),
    ],
    ['paths', role('r', undefined, { verbs: 'get', urls: '/a/b /a* /ab/*' }), 'allowed'],
    [
      'other paths',
      role('r', undefined, { verbs: 'get', urls: '/*' }),
      refused('clusterroles.rbac.authorization.k8s.io "r"', '{NonResourceURLs:["/*"], Verbs:["get"]}'),
    ],
    [
      'a kind of another group',
      { ...role('r', 'a'), kind: 'RoleBinding', roleRef: { kind: 'ClusterRole', name: 'view' } },
      'allowed',
    ],
  ])('%s', (_, object, expected) => {
    expect(write(held, bob, object)).toBe(expected);
  });

  it('an administrator may grant everything', () => {
    const all = role('r', 'a', { verbs: '*', groups: ['*'], resources: '*' });
    expect(write(held, user('x', 'system:masters'), all)).toBe('allowed');
  });

  it('an update is judged unless it changes only owners and finalizers', () => {
    const stored = role('r', 'a', { verbs: 'get', resources: 'nodes' });
    const changed = (metadata: object) => ({ ...stored, metadata: { ...stored.metadata, ...metadata } });
    expect(write(held, bob, stored, stored)).toBe('allowed');
    expect(write(held, bob, changed({ finalizers: ['a.b/c'], managedFields: [] }), stored)).toBe('allowed');
    expect(write(held, bob, changed({ labels: { a: 'b' } }), stored)).toMatch(/^403 /);
  });

  it('an aggregated role requires all rights', () => {
    const gathering = { ...role('r', undefined), aggregationRule: { clusterRoleSelectors: [{}] } };
    const refusal = refused(
      'clusterroles.rbac.authorization.k8s.io "r"',
      '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
      '{NonResourceURLs:["*"], Verbs:["*"]}',
    );
    expect(write(held, bob, gathering)).toBe(refusal);
    expect(write(held, bob, role('r', undefined), gathering)).toBe(refusal);
    held.put(binding('all', undefined, 'cluster-admin', 'User root'));
    expect(write(held, user('root'), gathering)).toBe('allowed');
  });

  it('the verb escalate permits every role', () => {
    const object = role('r', 'a', { verbs: 'get', resources: 'nodes' });
    const may = (names?: string) =>
      cluster(
        binding('e', 'a', 'Role e', 'User bob'),
        role('e', 'a', {
          verbs: 'escalate',
          groups: rbac,
          resources: 'roles',
          ...(names === undefined ? {} : { names }),
        }),
      );
    expect(write(may(), bob, object)).toBe('allowed');
    expect(write(may('r'), bob, object)).toMatch(/^403 /);
    expect(write(may('r'), bob, object, role('r', 'a'))).toBe('allowed');
    expect(write(may(), bob, role('r', undefined, { verbs: 'get', resources: 'nodes' }))).toMatch(/^403 /);
  });
});

describe('bindings', () => {
  const held = cluster(
    binding('admin', 'a', 'admin', 'User bob'),
    binding('bind', 'b', 'Role bind', 'User bob'),
    role('bind', 'b', { verbs: 'bind', groups: rbac, resources: 'clusterroles', names: 'edit none' }),
    binding('all', undefined, 'bind-view', 'User bob'),
    role('bind-view', undefined, { verbs: 'bind', groups: rbac, resources: 'clusterroles', names: 'view' }),
    role('nodes', 'a', { verbs: 'get', resources: 'nodes' }),
  );
  const name = 'rolebindings.rbac.authorization.k8s.io "r"';
  const everything = [
    '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
    '{NonResourceURLs:["*"], Verbs:["*"]}',
  ];

  it.each([
    ['a role whose rules are held', binding('r', 'a', 'edit', 'User x'), 'allowed'],
    [
      'a role whose rules are not',
      binding('r', 'a', 'cluster-admin', 'User x'),
      refused(name, ...everything),
    ],
    [
      'a Role whose rules are not',
      binding('r', 'a', 'Role nodes', 'User x'),
      refused(name, '{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}'),
    ],
    ['a role that may be bound here', binding('r', 'b', 'edit', 'User x'), 'allowed'],
    ['one that may be bound everywhere', binding('r', 'c', 'view', 'User x'), 'allowed'],
    ['and in the whole cluster', binding('r', undefined, 'view', 'User x'), 'allowed'],
    [
      'no role',
      binding('r', 'a', 'none', 'User x'),
      '404 rolebindings.rbac.authorization.k8s.io "none" not found',
    ],
    [
      'no Role',
      binding('r', 'b', 'Role none', 'User x'),
      '404 rolebindings.rbac.authorization.k8s.io "none" not found',
    ],
    ['no role that may be bound', binding('r', 'b', 'none', 'User x'), 'allowed'],
    [
      'in the whole cluster what is held in a namespace',
      binding('r', undefined, 'edit', 'User x'),
      expect.stringMatching(
        /^403 clusterrolebindings\.rbac\.authorization\.k8s\.io "r" is forbidden: user "bob"/,
      ),
    ],
  ])('%s', (_, object, expected) => {
    expect(write(held, bob, object)).toEqual(expected);
  });

  it('an update of the subjects is judged', () => {
    const stored = binding('r', 'a', 'cluster-admin', 'User x');
    expect(write(held, bob, { ...stored }, stored)).toBe('allowed');
    expect(write(held, bob, binding('r', 'a', 'cluster-admin', 'User y'), stored)).toMatch(/^403 /);
  });
});
