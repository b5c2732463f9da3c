// Tests that a user grants only rights that the user holds, except with the verbs bind and escalate.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
import { beforeAll, describe, expect, it } from 'vitest';
import type { Api } from './support/api.ts';
import { causeFields } from './support/answers.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { grant } from './support/grant.ts';
import { at, binding, role, type Rule } from './support/objects.ts';

const rbac = 'rbac.authorization.k8s.io';
const manage: Rule = {
  apiGroups: [rbac],
  resources: ['roles', 'rolebindings'],
  verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
};
const readSecrets: Rule = { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] };
const mayBindView: Rule = {
  apiGroups: [rbac],
  resources: ['clusterroles'],
  verbs: ['bind'],
  resourceNames: ['view'],
};
const mayBindRoles: Rule = { apiGroups: [rbac], resources: ['roles'], verbs: ['bind'] };
const mayEscalate: Rule = { apiGroups: [rbac], resources: ['roles'], verbs: ['escalate'] };

onEachBackend('role bindings', (backend) => {
  let ns = '';
  beforeAll(async () => {
    ns = await backend.namespace();
    await backend.api.must(backend.api.create(at('roles', ns), role('Role', 'reader', [readSecrets])));
    await backend.api.must(backend.api.create(at('roles', ns), role('Role', 'nothing', [])));
  });

  /** A user who may do everything with Roles and RoleBindings in the namespace, and more. */
  const manager = async (...more: readonly Rule[]): Promise<Api> => {
    const user = freshName('manager');
    await grant(backend, user, [manage, ...more], ns);
    return backend.as(user);
  };
  const bind = (to: readonly ['Role' | 'ClusterRole', string]): object =>
    binding('RoleBinding', freshName('binding'), to, 'somebody');
  const readerBinding = (): object => bind(['Role', 'reader']);

  describe('are refused', () => {
    it('a role binding is refused to a user without the rights, and the refusal lists them', async () => {
      const api = await manager();
      const name = freshName('binding');
      const object = binding('RoleBinding', name, ['Role', 'reader'], 'somebody');
      const { status, body } = await api.create(at('rolebindings', ns), object);
      expect(status).toBe(403);
      expect(body).toMatchObject({
        reason: 'Forbidden',
        details: { name, group: rbac, kind: 'rolebindings' },
      });
      const [first = '', second] = body.message.split('\n');
      expect(first).toMatch(
        new RegExp(
          `^rolebindings\\.rbac\\.authorization\\.k8s\\.io "${name}" is forbidden: user "ct-manager-\\w+" \\(groups=\\["system:authenticated"\\]\\) is attempting to grant RBAC permissions not currently held:$`,
        ),
      );
      expect(second).toBe('{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}');
    });

    it('a role binding is refused in a dry run as well', async () => {
      const api = await manager();
      const { status } = await api.create(`${at('rolebindings', ns)}?dryRun=All`, readerBinding());
      expect(status).toBe(403);
    });

    it('a role binding is refused to a user with some of the rights', async () => {
      const api = await manager({ ...readSecrets, verbs: ['get'] });
      const { status, body } = await api.create(at('rolebindings', ns), readerBinding());
      expect(status).toBe(403);
      expect(body.message).toContain('Verbs:["list"]');
    });

    it('a role binding is refused to a user who may bind another role', async () => {
      const api = await manager(mayBindView);
      expect((await api.create(at('rolebindings', ns), bind(['ClusterRole', 'edit']))).status).toBe(403);
      expect((await api.create(at('rolebindings', ns), readerBinding())).status).toBe(403);
    });

    it('a role binding is refused for a missing role', async () => {
      const api = await manager();
      const { status, body } = await api.create(at('rolebindings', ns), bind(['Role', 'missing']));
      expect(status).toBe(404);
      expect(body.message).toContain('"missing" not found');
    });

    it('a role binding is refused in an apply and in an update that adds a subject', async () => {
      const api = await manager();
      const name = freshName('binding');
      const path = at('rolebindings', ns, name);
      const object = binding('RoleBinding', name, ['Role', 'reader'], 'somebody');
      expect((await api.apply(path, object)).status).toBe(403);
      await backend.api.must(backend.api.create(at('rolebindings', ns), object));
      const subjects = [{ apiGroup: rbac, kind: 'User', name: 'other' }];
      expect((await api.patch(path, 'merge', { subjects })).status).toBe(403);
      // A change of any part counts as granting the rights again.
      expect((await api.patch(path, 'merge', { metadata: { labels: { a: 'b' } } })).status).toBe(403);
      expect((await api.delete(path)).status).toBe(200);
    });
  });

  describe('are created', () => {
    it('a role binding is created by a user with all of the rights', async () => {
      const api = await manager(readSecrets);
      expect((await api.create(at('rolebindings', ns), readerBinding())).status).toBe(201);
    });

    it('a role binding is created by a user with more rights', async () => {
      const api = await manager({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] });
      expect((await api.create(at('rolebindings', ns), readerBinding())).status).toBe(201);
    });

    it('a role binding is created by a user who may bind the role', async () => {
      const api = await manager(mayBindRoles);
      expect((await api.create(at('rolebindings', ns), readerBinding())).status).toBe(201);
      expect((await api.create(at('rolebindings', ns), bind(['Role', 'missing']))).status).toBe(201);
    });

    it('a role binding is created by a user who may bind the role by its name', async () => {
      const api = await manager(mayBindView);
      expect((await api.create(at('rolebindings', ns), bind(['ClusterRole', 'view']))).status).toBe(201);
    });

    it('a role binding is created for a role without rules', async () => {
      const api = await manager();
      expect((await api.create(at('rolebindings', ns), bind(['Role', 'nothing']))).status).toBe(201);
    });

    it('a role binding is created by the administrator, whatever it grants', async () => {
      const { status } = await backend.api.create(
        at('rolebindings', ns),
        bind(['ClusterRole', 'cluster-admin']),
      );
      expect(status).toBe(201);
    });
  });

  describe('roles', () => {
    it('roles cannot hold rights that their author lacks', async () => {
      const api = await manager();
      const { status, body } = await api.create(
        at('roles', ns),
        role('Role', freshName('role'), [readSecrets]),
      );
      expect(status).toBe(403);
      expect(body.message).toContain('is attempting to grant RBAC permissions not currently held:');
      const rules = [readSecrets];
      expect((await api.patch(at('roles', ns, 'nothing'), 'merge', { rules })).status).toBe(403);
    });

    it.each([
      ['has them', readSecrets],
      ['may escalate', mayEscalate],
    ])('roles are created by a user who %s', async (_, rule) => {
      const api = await manager(rule);
      const { status } = await api.create(at('roles', ns), role('Role', freshName('role'), [readSecrets]));
      expect(status).toBe(201);
    });

    it.each([
      ['no verb', { apiGroups: [''], resources: ['secrets'], verbs: [] }, 'rules[0].verbs'],
      ['no group', { resources: ['secrets'], verbs: ['get'] }, 'rules[0].apiGroups'],
      ['no resource', { apiGroups: [''], verbs: ['get'] }, 'rules[0].resources'],
      [
        'a path, which is of no namespace',
        { nonResourceURLs: ['/a'], verbs: ['get'] },
        'rules[0].nonResourceURLs',
      ],
    ])('roles with %s in a rule are refused', async (_, rule, field) => {
      const { status, body } = await backend.api.create(
        at('roles', ns),
        role('Role', freshName('role'), [rule]),
      );
      expect(status).toBe(422);
      expect(causeFields(body)).toEqual([field]);
    });
  });

  it('role bindings cannot change their role', async () => {
    const name = freshName('binding');
    await backend.api.must(
      backend.api.create(at('rolebindings', ns), binding('RoleBinding', name, ['Role', 'reader'], 'ann')),
    );
    const patch = { roleRef: { name: 'nothing' } };
    const { status, body } = await backend.api.patch(at('rolebindings', ns, name), 'merge', patch);
    expect(status).toBe(422);
    expect(causeFields(body)).toEqual(['roleRef']);
    expect(body.message).toContain('cannot change roleRef');
  });

  it.each([
    ['no role', { roleRef: undefined }, backend.expects(differences.missingRoleRef)],
    ['a role of another kind', { roleRef: { apiGroup: rbac, kind: 'Secret', name: 'a' } }, ['roleRef.kind']],
    [
      'a subject of another kind',
      { subjects: [{ kind: 'Cat', name: 'a', apiGroup: rbac }] },
      ['subjects[0].kind'],
    ],
    ['a subject without a name', { subjects: [{ kind: 'User', apiGroup: rbac }] }, ['subjects[0].name']],
  ])('role bindings with %s are refused', async (_, change, fields) => {
    const { status, body } = await backend.api.create(at('rolebindings', ns), {
      ...readerBinding(),
      ...change,
    });
    expect(status).toBe(422);
    expect(causeFields(body)).toEqual(expect.arrayContaining(fields));
  });

  it('role bindings get the API groups of their role and subjects', async () => {
    const name = freshName('binding');
    const { body } = await backend.api.create(at('rolebindings', ns), {
      metadata: { name },
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'Group', name: 'readers' },
        { kind: 'ServiceAccount', name: 'a', namespace: 'b' },
      ],
    });
    expect(body).toMatchObject({
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'Group', apiGroup: rbac, name: 'readers' },
        { kind: 'ServiceAccount', name: 'a', namespace: 'b' },
      ],
    });
  });
});
