// Tests RBAC: a user may do what bound roles permit, and nothing else.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Api, Reply } from './support/api.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { grant, mayDo } from './support/grant.ts';
import { at, binding, configMap, role, secret, type Rule } from './support/objects.ts';

const reviews = '/apis/authorization.k8s.io/v1';

const verbs: readonly (readonly [string, (api: Api, path: string) => Promise<Reply>])[] = [
  ['get', (api, path) => api.get(`${path}/a`)],
  ['list', (api, path) => api.get(path)],
  ['watch', (api, path) => api.get(`${path}?watch=true&timeoutSeconds=1`)],
  ['create', (api, path) => api.create(`${path}?dryRun=All`, configMap('new'))],
  ['update', (api, path) => api.replace(`${path}/a?dryRun=All`, configMap('a'))],
  ['patch', (api, path) => api.patch(`${path}/a?dryRun=All`, 'merge', {})],
  ['delete', (api, path) => api.delete(`${path}/a?dryRun=All`)],
  ['deletecollection', (api, path) => api.delete(`${path}?dryRun=All`)],
];

onEachBackend('access', (backend) => {
  let ns = '';
  let other = '';
  beforeAll(async () => {
    [ns, other] = await Promise.all([backend.namespace(), backend.namespace()]);
    for (const namespace of [ns, other]) {
      await backend.api.must(backend.api.create(at('configmaps', namespace), configMap('a')));
      await backend.api.must(backend.api.create(at('secrets', namespace), secret('a')));
      await backend.api.must(backend.api.create(at('secrets', namespace), secret('b')));
    }
  });

  const userWith = async (rules: readonly Rule[], namespace = ns): Promise<Api> => {
    const user = freshName('user');
    await grant(backend, user, rules, namespace);
    return backend.as(user);
  };

  it('access is refused to a user without rights, and the refusal names the request', async () => {
    const user = freshName('nobody');
    const { status, body } = await backend.as(user).get(at('secrets', ns, 'a'));
    expect(status).toBe(403);
    expect(body).toMatchObject({
      kind: 'Status',
      reason: 'Forbidden',
      message: `secrets "a" is forbidden: User "${user}" cannot get resource "secrets" in API group "" in the namespace "${ns}"`,
      details: { name: 'a', kind: 'secrets' },
    });
  });

  it.each([
    [
      'the scope of the cluster',
      at('namespaces', ''),
      'cannot list resource "namespaces" in API group "" at the cluster scope',
    ],
    [
      'a group',
      at('clusterroles', '', 'a'),
      'cannot get resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope',
    ],
    [
      'a subresource',
      at('namespaces', '', 'default', 'status'),
      'cannot get resource "namespaces/status" in API group "" in the namespace "default"',
    ],
    ['a path', '/metrics', 'cannot get path "/metrics"'],
  ])('a refusal names %s', async (_, path, words) => {
    const { status, body } = await backend.as('ct-nobody').get(path);
    expect(status).toBe(403);
    expect(body.message).toContain(`User "ct-nobody" ${words}`);
  });

  it('access is judged before the existence of the object', async () => {
    expect((await backend.as('ct-nobody').get(at('secrets', ns, 'none'))).status).toBe(403);
    expect((await backend.as('ct-nobody').get(at('secrets', 'ct-nowhere', 'none'))).status).toBe(403);
  });

  it.each(verbs)('access goes by the verb %s', async (verb, send) => {
    const api = await userWith([{ apiGroups: [''], resources: ['configmaps'], verbs: [verb] }]);
    for (const [asked, sendOther] of verbs) {
      const { status } = await sendOther(api, at('configmaps', ns));
      if (asked === verb) expect(status, asked).toBeLessThan(300);
      else expect(status, asked).toBe(403);
    }
    expect((await send(api, at('configmaps', other))).status).toBe(403);
    expect((await send(api, at('secrets', ns))).status).toBe(403);
  });

  it('access can be limited to names', async () => {
    const named: Rule = { apiGroups: [''], resources: ['secrets'], verbs: ['*'], resourceNames: ['a'] };
    const api = await userWith([named]);
    expect((await api.get(at('secrets', ns, 'a'))).status).toBe(200);
    expect((await api.get(at('secrets', ns, 'b'))).status).toBe(403);
    expect((await api.get(at('secrets', ns))).status).toBe(403);
    expect((await api.create(`${at('secrets', ns)}?dryRun=All`, secret('a'))).status).toBe(403);
    const one = await api.get(`${at('secrets', ns)}?fieldSelector=metadata.name%3Da`);
    expect(one.body.items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect((await api.get(`${at('secrets', ns)}?fieldSelector=metadata.name%3Db`)).status).toBe(403);
  });

  it('access can be limited to subresources', async () => {
    const api = await userWith([{ apiGroups: [''], resources: ['namespaces/status'], verbs: ['get'] }], '');
    expect((await api.get(at('namespaces', '', ns, 'status'))).status).toBe(200);
    expect((await api.get(at('namespaces', '', ns))).status).toBe(403);
    const plain = await userWith([{ apiGroups: [''], resources: ['namespaces'], verbs: ['*'] }], '');
    expect((await plain.get(at('namespaces', '', ns, 'status'))).status).toBe(403);
    const any = await userWith([{ apiGroups: [''], resources: ['*/status'], verbs: ['get'] }], '');
    expect((await any.get(at('namespaces', '', ns, 'status'))).status).toBe(200);
  });

  it('access can be granted to groups, service accounts and all authenticated users', async () => {
    const name = freshName('binding');
    const path = at('configmaps', ns, 'a');
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
    await backend.api.must(backend.api.create(at('roles', ns), role('Role', name, rules)));
    const subjects = [
      { kind: 'Group', name: 'ct-team', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'ServiceAccount', name: 'default', namespace: other },
    ];
    const bound = { ...binding('RoleBinding', name, ['Role', name], ''), subjects };
    await backend.api.must(backend.api.create(at('rolebindings', ns), bound));
    const status = async (user: string, ...groups: readonly string[]): Promise<number> =>
      (await backend.as(user, ...groups).get(path)).status;
    await eventually(() => status('ann', 'ct-team')).toBe(200);
    expect(await status('ann', 'ct-other')).toBe(403);
    expect(await status(`system:serviceaccount:${other}:default`)).toBe(200);
    expect(await status(`system:serviceaccount:${ns}:default`)).toBe(403);
  });

  it('access by a RoleBinding to a ClusterRole is limited to its namespace', async () => {
    const user = freshName('user');
    const bound = binding('RoleBinding', user, ['ClusterRole', 'view'], user);
    await backend.api.must(backend.api.create(at('rolebindings', ns), bound));
    await eventually(async () => (await backend.as(user).get(at('configmaps', ns, 'a'))).status).toBe(200);
    expect((await backend.as(user).get(at('secrets', ns, 'a'))).status).toBe(403);
    expect((await backend.as(user).get(at('configmaps', other, 'a'))).status).toBe(403);
    expect((await backend.as(user).get(at('configmaps', ''))).status).toBe(403);
  });

  it.each([
    ['view', 'get', 'configmaps', true],
    ['view', 'create', 'configmaps', false],
    ['edit', 'create', 'configmaps', true],
    ['edit', 'get', 'secrets', true],
    ['edit', 'create', 'rolebindings', false],
    ['admin', 'create', 'rolebindings', true],
    ['cluster-admin', 'delete', 'anything', true],
  ])('%s may %s %s: %s', async (name, verb, resource, expected) => {
    const user = freshName('user');
    const group = resource === 'rolebindings' ? 'rbac.authorization.k8s.io' : '';
    const bound = binding('RoleBinding', user, ['ClusterRole', name], user);
    await backend.api.must(backend.api.create(at('rolebindings', ns), bound));
    const asks = (what: object): Promise<boolean> => mayDo(backend, user, { namespace: ns, ...what });
    await eventually(() => asks({ verb: 'get', resource: 'configmaps' })).toBe(true);
    expect(await asks({ verb, resource, group })).toBe(expected);
  });

  it('access ends with the binding', async () => {
    const user = freshName('user');
    await grant(backend, user, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }], ns);
    const status = async (): Promise<number> =>
      (await backend.as(user).get(at('configmaps', ns, 'a'))).status;
    expect(await status()).toBe(200);
    await backend.api.must(backend.api.delete(at('rolebindings', ns, user)));
    await eventually(status).toBe(403);
  });

  describe('by impersonation', () => {
    const impersonate = (resource: string, ...resourceNames: readonly string[]): Rule => ({
      apiGroups: [''],
      resources: [resource],
      verbs: ['impersonate'],
      resourceNames,
    });
    const whoAmI = async (api: Api): Promise<Reply> =>
      await api.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});

    it('impersonation requires the right to impersonate the user and each group', async () => {
      const user = freshName('user');
      await grant(backend, user, [impersonate('users', 'ann'), impersonate('groups', 'ct-team')], '');
      const api = await backend.login(user);
      const { status, body } = await whoAmI(api.as('ann', 'ct-team'));
      expect(status).toBe(201);
      expect(body.status).toMatchObject({ userInfo: { username: 'ann' } });
      const bob = await whoAmI(api.as('bob'));
      expect(bob.status).toBe(403);
      expect(bob.body.message).toBe(
        `users "bob" is forbidden: User "${user}" cannot impersonate resource "users" in API group "" at the cluster scope`,
      );
      expect((await whoAmI(api.as('ann', 'ct-other'))).status).toBe(403);
      expect((await whoAmI(api.as('ann', 'system:masters'))).status).toBe(403);
    });

    it('impersonation of a service account requires the right on serviceaccounts', async () => {
      const user = freshName('user');
      await grant(backend, user, [impersonate('serviceaccounts', 'default')], ns);
      const api = await backend.login(user);
      const own = await whoAmI(api.as(`system:serviceaccount:${ns}:default`));
      expect(own.status).toBe(201);
      expect(own.body.status).toMatchObject({
        userInfo: {
          groups: expect.arrayContaining([
            'system:serviceaccounts',
            `system:serviceaccounts:${ns}`,
          ]) as string[],
        },
      });
      expect((await whoAmI(api.as(`system:serviceaccount:${other}:default`))).status).toBe(403);
    });
  });

  describe('tokens', () => {
    it('tokens of service accounts are accepted', async () => {
      const path = at('serviceaccounts', ns, 'default', 'token');
      await eventually(async () => (await backend.api.get(at('serviceaccounts', ns, 'default'))).status).toBe(
        200,
      );
      const spec = { expirationSeconds: 3600 };
      const made = await backend.api.create(path, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec,
      });
      expect(made.status).toBe(201);
      expect(made.body.kind).toBe('TokenRequest');
      const { token } = made.body.status as { token: string };
      const { body } = await backend.withToken(token).get(at('secrets', ns, 'a'));
      expect(body.message).toContain(
        `User "system:serviceaccount:${ns}:default" cannot get resource "secrets"`,
      );
    });

    it('tokens that were never issued are refused', async () => {
      const { status, body } = await backend.withToken('wrong').get('/api/v1');
      expect(status).toBe(401);
      expect(body).toMatchObject({
        kind: 'Status',
        reason: 'Unauthorized',
        message: 'Unauthorized',
        code: 401,
      });
    });
  });

  describe('access reviews', () => {
    it('access reviews about the user who asks are answered', async () => {
      const user = freshName('user');
      await grant(backend, user, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }], ns);
      const ask = async (resourceAttributes: object): Promise<unknown> => {
        const { status, body } = await backend
          .as(user)
          .create(`${reviews}/selfsubjectaccessreviews`, { spec: { resourceAttributes } });
        expect(status).toBe(201);
        return (body.status as { allowed: boolean }).allowed;
      };
      expect(await ask({ verb: 'get', resource: 'configmaps', namespace: ns })).toBe(true);
      expect(await ask({ verb: 'get', resource: 'configmaps', namespace: other })).toBe(false);
      expect(await ask({ verb: 'get', resource: 'configmaps' })).toBe(false);
    });

    it('access reviews about paths are answered', async () => {
      const ask = async (path: string): Promise<unknown> => {
        const spec = { nonResourceAttributes: { verb: 'get', path } };
        const { body } = await backend
          .as('ct-nobody')
          .create(`${reviews}/selfsubjectaccessreviews`, { spec });
        return (body.status as { allowed: boolean }).allowed;
      };
      expect(await ask('/version')).toBe(true);
      expect(await ask('/metrics')).toBe(false);
    });

    it('access reviews about other users require the right to ask', async () => {
      const spec = { user: 'ann', resourceAttributes: { verb: 'get', resource: 'secrets' } };
      const { status } = await backend.as('ct-nobody').create(`${reviews}/subjectaccessreviews`, { spec });
      expect(status).toBe(403);
      const { body } = await backend.api.create(`${reviews}/subjectaccessreviews`, { spec });
      expect(body.status).toMatchObject({ allowed: false });
      const masters = { ...spec, groups: ['system:masters'] };
      const answer = await backend.api.create(`${reviews}/subjectaccessreviews`, { spec: masters });
      expect(answer.body.status).toMatchObject({ allowed: true });
    });

    it('access reviews that are incomplete are refused', async () => {
      const nobody = await backend.api.create(`${reviews}/subjectaccessreviews`, {
        spec: { resourceAttributes: { verb: 'get', resource: 'secrets' } },
      });
      expect(nobody.status).toBe(422);
      const nothing = await backend.api.create(`${reviews}/selfsubjectaccessreviews`, { spec: {} });
      expect(nothing.status).toBe(422);
    });

    it('access reviews in a namespace are answered', async () => {
      const user = freshName('user');
      await grant(backend, user, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }], ns);
      const spec = { user, resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: ns } };
      const path = `${reviews}/namespaces/${ns}/localsubjectaccessreviews`;
      const { status, body } = await backend.api.create(path, { metadata: { namespace: ns }, spec });
      expect(status).toBe(201);
      expect(body.status).toMatchObject({ allowed: true });
    });

    it('a SelfSubjectRulesReview lists the rules that a user has in a namespace', async () => {
      const user = freshName('user');
      const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['a'] };
      await grant(backend, user, [rule], ns);
      const { status, body } = await backend
        .as(user)
        .create(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: ns } });
      expect(status).toBe(201);
      const answer = body.status as {
        incomplete: boolean;
        resourceRules: object[];
        nonResourceRules: object[];
      };
      expect(answer.incomplete).toBe(false);
      expect(answer.resourceRules).toEqual(expect.arrayContaining([expect.objectContaining(rule)]));
      expect(JSON.stringify(answer.nonResourceRules)).toContain('/version');
    });

    it('name the user in any alphabet', async () => {
      // A header is bytes of UTF-8. Node writes the head in the encoding of the text that follows.
      const api = backend.api.with({ 'impersonate-user': 'müller', 'impersonate-group': ['größe'] });
      const { body } = await api.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
      expect(body.status).toMatchObject({
        userInfo: { username: 'müller', groups: expect.arrayContaining(['größe']) as string[] },
      });
    });

    it('name the uid and extra fields of the user', async () => {
      const api = backend.api.with({
        'impersonate-user': 'ann',
        'impersonate-uid': 'ct-uid',
        'impersonate-extra-test.dev%2Fteam': ['one', 'two'],
      });
      const { status, body } = await api.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
      expect(status).toBe(backend.expects(differences.impersonatedDetails));
      const known = { username: 'ann', uid: 'ct-uid', extra: { 'test.dev/team': ['one', 'two'] } };
      expect([{ userInfo: expect.objectContaining(known) as object }, 'Failure']).toContainEqual(body.status);
    });

    it('name the user who asks', async () => {
      const { status, body } = await backend
        .as('ann', 'ct-team')
        .create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
      expect(status).toBe(201);
      expect(body.status).toMatchObject({
        userInfo: {
          username: 'ann',
          groups: expect.arrayContaining(['ct-team', 'system:authenticated']) as string[],
        },
      });
    });
  });
});
