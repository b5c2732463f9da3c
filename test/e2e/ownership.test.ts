// Reeve decides who owns an object: no field, annotation or ownerReference of other users changes that.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject } from '../contract/support/answers.ts';
import type { Api, Reply } from '../contract/support/api.ts';
import { at, type Plural } from '../contract/support/objects.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { guardSays } from './guard-scene.ts';
import { inTime } from './support/in-time.ts';
import { Logins } from './support/logins.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap, type WrittenObject } from './support/objects.ts';
import { grant } from './support/people.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'gu-os-';
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const everything = { apiGroups: ['*'], resources: ['*'], verbs };

const contents = (ingress: object, hard: object, data: Readonly<Record<string, string>>): object => ({
  resources: [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'kept' },
      spec: { podSelector: {}, policyTypes: ['Ingress'], ...ingress },
    },
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'kept' }, spec: { hard } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'kept' } },
    configMap('kept', data),
  ],
});
const generous = contents({ ingress: [{}] }, { pods: '5', secrets: '5' }, { a: '1', b: '2' });
const strict = contents({}, { pods: '5' }, { a: '1' });
/** Fields that a tenant may want to keep on the object. */
const loaded: readonly { readonly plural: Plural; readonly fields: object }[] = [
  {
    plural: 'networkpolicies',
    fields: { spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{}] } },
  },
  { plural: 'resourcequotas', fields: { spec: { hard: { pods: '50', secrets: '50' } } } },
  { plural: 'configmaps', fields: { data: { a: '2', b: '2' } } },
  { plural: 'serviceaccounts', fields: { imagePullSecrets: [{ name: 'own' }] } },
];

describeControllers('ownership', () => {
  const stage = new Stage(sharedCluster(), prefix);
  const namesakes = new Namesakes(stage, prefix);
  const logins = new Logins(stage.cluster);
  withReeve(stage);
  /** Has every right in RBAC. */
  let tenant: Api;

  beforeAll(async () => {
    await grant(stage.cluster, { name: `${prefix}all`, rules: [everything], users: [`${prefix}tenant`] });
    tenant = await logins.as(`${prefix}tenant`);
    await until(
      async () => (await tenant.get(at('secrets', 'default'))).status === 200,
      () => 'the rights are known',
    );
  });
  afterAll(async () => {
    await stage.inEmergency('delete', 'clusterrole,clusterrolebinding', `${prefix}all`);
    logins.close();
  });

  describe('ownership of single fields', () => {
    type Theft = (path: string, object: ApiObject) => Promise<Reply>;
    const merge = async (path: string, metadata: object): Promise<Reply> =>
      await tenant.patch(path, 'merge', { metadata });
    const renamed = ({ metadata }: ApiObject): readonly object[] =>
      (metadata.managedFields ?? []).map((entry) => ({ ...entry, manager: 'thief' }));
    const withField = (object: ApiObject, metadata: object): object => ({
      ...object,
      metadata: { ...object.metadata, managedFields: undefined, resourceVersion: undefined, ...metadata },
    });
    const asThief = 'fieldManager=thief&force=true';
    const thefts: readonly { readonly how: string; readonly steal: Theft }[] = [
      {
        how: 'an apply of the same object',
        steal: (path, object) => tenant.apply(path, withField(object, {}), asThief),
      },
      {
        how: 'an apply of the same object with a finalizer',
        steal: (path, object) =>
          tenant.apply(path, withField(object, { finalizers: ['example.com/held'] }), asThief),
      },
      { how: 'a patch that empties managedFields', steal: (path) => merge(path, { managedFields: [{}] }) },
      {
        how: 'a write that names the tenant in place of Reeve',
        steal: (path, object) => merge(path, { managedFields: renamed(object) }),
      },
      {
        how: 'a write that makes the tenant the only manager',
        steal: (path, object) =>
          tenant.replace(path, {
            ...object,
            metadata: { ...object.metadata, managedFields: renamed(object) },
          }),
      },
      {
        how: 'a write that adds the tenant beside Reeve',
        steal: (path, { metadata: { managedFields = [] }, ...rest }) =>
          tenant.patch(path, 'json', [
            {
              op: 'add',
              path: '/metadata/managedFields/-',
              value: {
                ...managedFields[0],
                manager: 'thief',
                operation: 'Update',
                rest: undefined,
                kind: rest.kind,
              },
            },
          ]),
      },
    ];
    const plurals = ['networkpolicies', 'resourcequotas', 'configmaps'] as const;
    const pathOf = (plural: Plural): string => at(plural, `${prefix}fields`, 'kept');

    beforeAll(async () => {
      await namesakes.makeNamespace('fields');
      await stage.apply(namesakes.policy('fields', generous));
      await until(
        async () => (await stage.condition(namesakes.refTo('fields'))) === 'True Synced',
        () => 'the contents are there',
      );
      await until(
        async () => (await tenant.get(pathOf('configmaps'))).status === 200,
        () => 'the namespace is furnished',
      );
    });

    it.each(thefts)('ownership of a field is not taken with $how', async ({ steal }) => {
      for (const plural of plurals) {
        const { body } = await tenant.get(pathOf(plural));
        const { status, text } = await steal(pathOf(plural), body);
        expect(status, text).toBe(403);
        expect(text).toContain(guardSays);
        expect((await tenant.get(pathOf(plural))).body.metadata.resourceVersion).toBe(
          body.metadata.resourceVersion,
        );
      }
    });

    it('ownership is not taken through the status', async () => {
      const path = pathOf('resourcequotas');
      const { body } = await tenant.get(path);
      const { managedFields } = body.metadata;
      await tenant.must(merge(`${path}/status`, { managedFields: renamed(body) }));
      const status = { hard: { pods: '5' } };
      const { apiVersion, kind } = body;
      await tenant.must(
        tenant.apply(`${path}/status`, { apiVersion, kind, spec: body['spec'], status }, asThief),
      );
      const ours = (await tenant.get(path)).body.metadata.managedFields;
      expect(ours?.filter(({ subresource }) => subresource === undefined)).toEqual(managedFields);
    });

    it('ownership is not taken by a finalizer that would block deletion', async () => {
      const { body } = await tenant.get(pathOf('configmaps'));
      const { apiVersion, kind, metadata } = body;
      const { name, namespace, resourceVersion } = metadata;
      const object = { apiVersion, kind, metadata: { name, namespace, finalizers: ['example.com/held'] } };
      for (const { status, text } of [
        await tenant.apply(pathOf('configmaps'), object, asThief),
        await merge(pathOf('configmaps'), { finalizers: ['example.com/also'] }),
      ]) {
        expect(status, text).toBe(403);
        expect(text).toContain("ValidatingAdmissionPolicy 'reeve-guard'");
      }
      expect((await tenant.get(pathOf('configmaps'))).body.metadata.resourceVersion).toBe(resourceVersion);
    });

    it('a field that the policy takes back is removed', async () => {
      await stage.apply(namesakes.policy('fields', strict));
      await inTime(() => stage.condition(namesakes.refTo('fields'))).toBe('True Synced');
      const held = await Promise.all(plurals.map(async (plural) => (await tenant.get(pathOf(plural))).body));
      expect(held.map(({ spec, data }) => spec ?? data)).toEqual([
        { podSelector: {}, policyTypes: ['Ingress'] },
        { hard: { pods: '5' } },
        { a: '1' },
      ]);
    });
  });

  it('the owner annotation alone does not prove ownership', async () => {
    const namespace = await namesakes.provide('annotated', { resources: [configMap('kept', {})] });
    const annotations = { 'reeve.dev/owner': `NamespacePolicy/${namespace}` };
    for (const name of ['forged', 'claimed'])
      await tenant.must(
        tenant.create(at('configmaps', namespace), {
          metadata: { name, annotations },
          data: { mine: 'yes' },
        }),
      );
    const refs = ['forged', 'claimed'].map((name) => namesakes.objectIn('annotated', 'ConfigMap', name));
    const before = await Promise.all(refs.map((ref) => stage.mustGet(ref)));
    await stage.apply(namesakes.policy('annotated', { resources: [configMap('claimed', { a: 'b' })] }));
    await inTime(() => stage.condition(namesakes.refTo('annotated'))).toBe('False Conflicts');
    await stage.remove(namesakes.refTo('annotated'));
    expect(await Promise.all(refs.map((ref) => stage.mustGet(ref)))).toEqual(before);
    expect(await stage.ownersOf(namesakes.objectIn('annotated', 'ConfigMap', 'kept'))).toEqual(['absent']);
  });

  it('an ownerReference to the policy does not prove ownership', async () => {
    const namespace = await namesakes.makeNamespace('referred');
    const ref = namesakes.refTo('referred');
    await stage.apply(namesakes.policy('referred', {}));
    const [uid = ''] = await stage.uidsOf(ref);
    const owner = { apiVersion: 'reeve.dev/v1alpha1', ...ref, uid, controller: true };
    const path = at('configmaps', namespace, 'kept');
    const metadata = { name: 'kept', ownerReferences: [owner] };
    await tenant.must(tenant.create(at('configmaps', namespace), { metadata, data: { mine: 'yes' } }));
    const { body } = await tenant.get(path);
    await stage.apply(namesakes.policy('referred', { resources: [configMap('kept', { a: 'b' })] }));
    await inTime(() => stage.condition(ref)).toBe('False Conflicts');
    expect((await tenant.get(path)).body).toEqual(body);
  });

  it('an adopted object keeps nothing that the tenant put there', async () => {
    const namespace = await namesakes.makeNamespace('loaded');
    const labels = { 'reeve.dev/adopt': 'true' };
    for (const { plural, fields } of loaded)
      await tenant.must(
        tenant.create(at(plural, namespace), { metadata: { name: 'kept', labels }, ...fields }),
      );
    await stage.apply(namesakes.policy('loaded', strict));
    await inTime(() => stage.condition(namesakes.refTo('loaded'))).toBe('True Synced');
    const bodies = await Promise.all(
      loaded.map(async ({ plural }) => (await tenant.get(at(plural, namespace, 'kept'))).body),
    );
    expect(bodies.map((body) => body['spec'] ?? body['data'] ?? body['imagePullSecrets'])).toEqual([
      { podSelector: {}, policyTypes: ['Ingress'] },
      { hard: { pods: '5' } },
      { a: '1' },
      undefined,
    ]);
    const owner = { 'reeve.dev/owner': `NamespacePolicy/${namespace}` };
    expect(bodies.map(({ metadata }) => metadata.annotations)).toMatchObject(loaded.map(() => owner));
  });

  it('an old ownerReference does not break ownership', async () => {
    const namespace = await namesakes.makeNamespace('owned');
    const parent = await tenant.must(
      tenant.create(at('configmaps', namespace), { metadata: { name: 'parent' } }),
    );
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid: parent.metadata.uid };
    const labels = { 'reeve.dev/adopt': 'true' };
    const child = { metadata: { name: 'kept', labels, ownerReferences: [reference] } };
    await tenant.must(tenant.create(at('configmaps', namespace), child));
    await stage.apply(namesakes.policy('owned', { resources: [configMap('kept', { a: 'b' })] }));
    const ref = namesakes.objectIn('owned', 'ConfigMap', 'kept');
    await inTime(() => stage.ownersOf(ref)).toEqual([`NamespacePolicy/${namespace}`]);
    const [uid] = await stage.uidsOf(ref);
    await tenant.must(tenant.delete(at('configmaps', namespace, 'parent')));
    const audit = stage.cluster.auditLog();
    const attempts = async (): Promise<readonly number[]> =>
      (await audit.records())
        .filter(
          ({ verb, name, namespace: where }) => verb === 'delete' && name === 'kept' && where === namespace,
        )
        .map(({ status }) => status);
    await inTime(attempts).toContain(403);
    expect(await stage.uidsOf(ref)).toEqual([uid]);
  });

  it('a tenant with all rights in the namespace cannot take ownership', async () => {
    const namespace = await namesakes.provide('emptied', generous);
    const refs = (['ConfigMap', 'NetworkPolicy', 'ResourceQuota'] as const).map((kind) =>
      namesakes.objectIn('emptied', kind, 'kept'),
    );
    const before = await stage.uidsOf(...refs);
    await tenant.must(tenant.create(at('configmaps', namespace), { metadata: { name: 'own' } }));
    for (const plural of ['configmaps', 'networkpolicies', 'resourcequotas'] as const) {
      const { status, text } = await tenant.delete(at(plural, namespace));
      expect(status, text).toBe(403);
      expect(text).toContain(guardSays);
    }
    expect(await stage.uidsOf(...refs)).toEqual(before);
  });

  it('a tenant may request tokens of a provided ServiceAccount as RBAC allows', async () => {
    const namespace = await namesakes.provide('account', generous);
    const path = at('serviceaccounts', namespace, 'kept');
    const { resourceVersion } = (await tenant.get(path)).body.metadata;
    const request: Omit<WrittenObject, 'kind' | 'metadata'> = {
      apiVersion: 'authentication.k8s.io/v1',
      spec: {},
    };
    const made = await tenant.must(tenant.create(`${path}/token`, { ...request, kind: 'TokenRequest' }));
    expect(made.kind).toBe('TokenRequest');
    expect((await tenant.get(path)).body.metadata.resourceVersion).toBe(resourceVersion);
  });
});
