// Tests ValidatingAdmissionPolicies with the guard that Reeve ships.
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { until } from '../support/until.ts';
import type { ApiObject } from './support/answers.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, binding, configMap } from './support/objects.ts';
import { installPolicies } from './support/shipped-policies.ts';

const marked = { labels: { 'app.kubernetes.io/managed-by': 'reeve' } };
const reconciler = 'system:serviceaccount:reeve-system:reeve-reconciler';
/** Users whom the guard permits, and the jail too, which an earlier test may have left. */
const administrator = ['ann', 'system:masters', 'reeve:break-glass'] as const;

onEachBackend('admission policies', (backend) => {
  const guarded = backend.as.bind(backend, 'ann', 'system:masters');

  beforeAll(async () => {
    await installPolicies(backend, '40-guard.yaml');
    const probe = configMap('ct-probe', {}, marked);
    await until(
      async () => (await guarded().create(`${at('configmaps', 'default')}?dryRun=All`, probe)).status === 403,
      () => 'the guard is in force',
    );
  });

  const kept = async (
    owner = '',
  ): Promise<{ readonly ns: string; readonly path: string; readonly object: ApiObject }> => {
    const ns = await backend.namespace();
    const annotations = owner === '' ? {} : { 'reeve.dev/owner': owner };
    const api = backend.as(...administrator);
    const object = await api.must(
      api.create(at('configmaps', ns), configMap('a', {}, { ...marked, annotations })),
    );
    return { ns, path: at('configmaps', ns, 'a'), object };
  };

  describe('the guard', () => {
    it('the guard refuses the mark, in its own words', async () => {
      const ns = await backend.namespace();
      const { status, body, warnings } = await guarded().create(
        at('configmaps', ns),
        configMap('a', {}, marked),
      );
      expect(status).toBe(403);
      expect(warnings).toEqual([]);
      expect(body.reason).toBe('Forbidden');
      expect(body.message).toBe(
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'reeve-guard' with binding 'reeve-guard' denied request: " +
          'the label app.kubernetes.io/managed-by=reeve marks what Reeve keeps, and only Reeve sets it: leave it out; ' +
          'to let Reeve take over an object of yours, label it reeve.dev/adopt=true',
      );
      expect(body.details).toMatchObject({ name: 'a', kind: 'configmaps' });
    });

    it('the guard names the provider in the refusal', async () => {
      const { path } = await kept('NamespacePolicy/base');
      const { status, body } = await guarded().delete(path);
      expect(status).toBe(403);
      expect(body.message).toContain(
        'Reeve keeps ConfigMap a for NamespacePolicy/base, and only Reeve writes it: change or delete that instead (kubectl edit namespacepolicy/base)',
      );
    });

    it('the guard names the binding of a namespace as kubectl does', async () => {
      const { path } = await kept('SecurityIntentBinding/shop/base');
      const { body } = await guarded().delete(path);
      expect(body.message).toContain('Reeve keeps ConfigMap a for SecurityIntentBinding/shop/base');
      expect(body.message).toContain('(kubectl edit securityintentbinding.reeve.dev/base -n shop)');
    });

    it('the guard holds for every way to write', async () => {
      const { ns, path } = await kept();
      const mark = configMap('a', { b: 'c' }, marked);
      const replies = [
        guarded().replace(path, configMap('a')),
        guarded().patch(path, 'merge', { data: { b: 'c' } }),
        guarded().patch(path, 'json', [{ op: 'remove', path: '/metadata/labels' }]),
        guarded().apply(path, mark, 'fieldManager=me&force=true'),
        guarded().apply(at('configmaps', ns, 'new'), configMap('new', {}, marked)),
        guarded().delete(path),
        guarded().delete(
          `${at('configmaps', ns)}?labelSelector=${encodeURIComponent('app.kubernetes.io/managed-by')}`,
        ),
        guarded().delete(`${path}?dryRun=All`),
      ];
      for (const { status, body } of await Promise.all(replies)) {
        expect(status, body.message).toBe(403);
        expect(body.message).toContain("ValidatingAdmissionPolicy 'reeve-guard'");
      }
    });

    it('the guard applies to subresources that write metadata, and permits their own part', async () => {
      const ns = await backend.namespace();
      const quota = (metadata: object) => ({ metadata: { name: 'a', ...metadata }, spec: { hard: {} } });
      const quotas = at('resourcequotas', ns);
      const status = `${quotas}/a/status`;
      await backend.api.must(backend.as(...administrator).create(quotas, quota(marked)));
      const owners = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }];
      for (const metadata of [{ labels: null }, { annotations: { a: 'b' } }, { ownerReferences: owners }]) {
        const { status: code, body } = await guarded().patch(status, 'merge', { metadata });
        expect(code, body.message).toBe(403);
      }
      const used = { status: { hard: { pods: '5' } } };
      expect((await guarded().patch(status, 'merge', used)).status).toBe(200);
      await backend.api.must(backend.api.create(quotas, { ...quota({}), metadata: { name: 'own' } }));
      const mine = `${quotas}/own/status`;
      expect((await guarded().patch(mine, 'merge', { metadata: marked })).status).toBe(403);
      expect((await guarded().patch(mine, 'merge', used)).status).toBe(200);
    });

    it('the guard permits other objects, and removing but not adding finalizers', async () => {
      const { ns, path } = await kept();
      expect((await guarded().create(at('configmaps', ns), configMap('b'))).status).toBe(201);
      const finalizers = { metadata: { finalizers: ['test.dev/one'] } };
      expect((await guarded().patch(path, 'merge', finalizers)).status).toBe(403);
      await backend.api.must(backend.as(...administrator).patch(path, 'merge', finalizers));
      expect((await guarded().patch(path, 'merge', { metadata: { finalizers: null } })).status).toBe(200);
    });

    it('the guard permits Reeve, and users of the break-glass group', async () => {
      // The jail, which an earlier test may have left, demands an owner.
      const { path } = await kept('NamespacePolicy/p');
      const api = backend.as(reconciler, 'system:masters');
      expect((await api.patch(path, 'merge', { data: { b: 'c' } })).status).toBe(200);
      const emergency = backend.as(...administrator);
      expect((await emergency.patch(path, 'merge', { data: { b: 'd' } })).status).toBe(200);
      expect((await emergency.delete(path)).status).toBe(200);
    });

    it('the guard permits the deletion of a namespace', async () => {
      const { ns } = await kept();
      await backend.api.must(backend.api.delete(at('namespaces', '', ns)));
      await eventually(async () => (await backend.api.get(at('namespaces', '', ns))).status).toBe(404);
    });

    it('the guard is judged after RBAC', async () => {
      const { path } = await kept();
      const { status, body } = await backend.as('ct-nobody').delete(path);
      expect(status).toBe(403);
      expect(body.message).toContain('cannot delete resource');
    });

    it('the guard holds for cluster-scoped objects', async () => {
      const bound = binding('ClusterRoleBinding', freshName('marked'), ['ClusterRole', 'view'], 'x');
      const object = { ...bound, metadata: { ...bound.metadata, ...marked } };
      const { status } = await guarded().create(at('clusterrolebindings', ''), object);
      expect(status).toBe(403);
    });
  });

  describe.each([
    ['reeve.dev/namespacepolicy', () => 'NamespacePolicy/registry'],
    ['reeve.dev/secretshare', () => 'SecretShare/registry'],
    ['reeve.dev/clustersecurityintentbinding', () => 'ClusterSecurityIntentBinding/registry'],
    ['reeve.dev/securityintentbinding', (namespace: string) => `SecurityIntentBinding/${namespace}/registry`],
  ] as const)('the label %s', (key, ownerIn) => {
    const named = { labels: { [key]: 'registry' } };
    const byHelm = { 'app.kubernetes.io/managed-by': 'Helm' };

    it('the label is refused on objects without the mark, for Reeve too', async () => {
      const { ns } = await kept();
      await backend.api.must(guarded().create(at('configmaps', ns), configMap('own')));
      await backend.api.must(
        guarded().create(at('resourcequotas', ns), { metadata: { name: 'own' }, spec: { hard: {} } }),
      );
      const replies = [
        guarded().create(at('configmaps', ns), configMap('b', {}, named)),
        guarded().create(
          at('configmaps', ns),
          configMap('b', {}, { labels: { ...byHelm, ...named.labels } }),
        ),
        guarded().patch(at('configmaps', ns, 'own'), 'merge', { metadata: named }),
        guarded().apply(at('configmaps', ns, 'own'), configMap('own', {}, named), 'fieldManager=me'),
        guarded().patch(at('namespaces', '', ns), 'merge', { metadata: named }),
        guarded().patch(`${at('resourcequotas', ns, 'own')}/status`, 'merge', { metadata: named }),
      ];
      for (const { status, body } of await Promise.all(replies)) {
        expect(status, body.message).toBe(403);
        expect(body.message).toContain("ValidatingAdmissionPolicy 'reeve-guard-names'");
        expect(body.message).toContain('only Reeve sets them: leave them out');
      }
      const reeve = backend.as(reconciler, 'system:masters');
      const { status, body } = await reeve.create(at('configmaps', ns), configMap('b', {}, named));
      expect(status).toBe(403);
      // The jail refuses it as well, where an earlier test has left it.
      expect(body.message).toMatch(/ValidatingAdmissionPolicy 'reeve-(guard-names|jail)'/);
    });

    it('the label is refused in the write that removes the mark, for Reeve too', async () => {
      const ns = await backend.namespace();
      const reeve = backend.as(reconciler, 'system:masters');
      const marks = { ...marked, annotations: { 'reeve.dev/owner': ownerIn(ns) } };
      await backend.api.must(reeve.create(at('configmaps', ns), configMap('a', {}, marks)));
      const labels = { 'app.kubernetes.io/managed-by': null, [key]: 'registry' };
      const { status, body } = await reeve.patch(at('configmaps', ns, 'a'), 'merge', {
        metadata: { labels },
      });
      expect(status).toBe(403);
      expect(body.message).toContain("ValidatingAdmissionPolicy 'reeve-guard-names'");
    });

    it('the label is held on objects with the mark', async () => {
      const ns = await backend.namespace();
      const path = at('configmaps', ns, 'a');
      const annotations = { 'reeve.dev/owner': ownerIn(ns) };
      const marks = { labels: { ...marked.labels, ...named.labels }, annotations };
      const reeve = backend.as(reconciler, 'system:masters');
      await backend.api.must(reeve.create(at('configmaps', ns), configMap('a', {}, marks)));
      for (const value of ['other', null]) {
        const { status, body } = await guarded().patch(path, 'merge', {
          metadata: { labels: { [key]: value } },
        });
        expect(status, body.message).toBe(403);
        expect(body.message).toContain("ValidatingAdmissionPolicy 'reeve-guard'");
      }
    });

    it('the label may stay or be removed where it stood before', async () => {
      const ns = await backend.namespace();
      const path = at('configmaps', ns, 'a');
      await backend.api.must(
        backend.as(...administrator).create(at('configmaps', ns), configMap('a', {}, named)),
      );
      expect((await guarded().patch(path, 'merge', { data: { b: 'c' } })).status).toBe(200);
      expect((await guarded().patch(path, 'merge', { metadata: { labels: { [key]: 'x' } } })).status).toBe(
        403,
      );
      expect((await guarded().patch(path, 'merge', { metadata: { labels: { [key]: null } } })).status).toBe(
        200,
      );
    });

    it('the label may stand on an object that is deleted', async () => {
      const ns = await backend.namespace();
      const path = at('configmaps', ns, 'a');
      await backend.api.must(
        backend.as(...administrator).create(at('configmaps', ns), configMap('a', {}, named)),
      );
      expect((await guarded().delete(path)).status).toBe(200);
    });
  });

  it('admission policies do not judge writes of policies', async () => {
    const name = freshName('policy');
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name, ...marked },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['none.test'], apiVersions: ['*'], operations: ['*'], resources: ['*'] },
          ],
        },
        validations: [{ expression: 'true' }],
      },
    };
    const path = at('validatingadmissionpolicies', '');
    const { status } = await guarded().create(path, policy);
    expect(status).toBe(201);
    await backend.api.delete(`${path}/${name}`);
  });

  it.each(['object.metadata.', 'nosuch == 1'])(
    'a policy with the invalid expression %s is not stored',
    async (expression) => {
      const matchConstraints = {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] },
        ],
      };
      const spec = { matchConstraints, validations: [{ expression }] };
      const policy = { metadata: { name: freshName('wrong') }, spec };
      expect((await backend.api.create(at('validatingadmissionpolicies', ''), policy)).status).toBe(422);
    },
  );
});
