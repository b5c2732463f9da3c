// Tests server-side apply: managers, the fields that they own, and conflicts.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freshName } from './support/backend.ts';
import { causeFields, type ApiObject, type ManagedFields } from './support/answers.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { at, binding, configMap, role } from './support/objects.ts';

const by = (manager: string): string => `fieldManager=${manager}`;

function ownedBy(object: ApiObject, manager: string): object | undefined {
  return entryOf(object, manager)?.fieldsV1;
}

function entryOf({ metadata }: ApiObject, manager: string): ManagedFields | undefined {
  return metadata.managedFields?.find((entry) => entry.manager === manager);
}

onEachBackend('server-side apply', (backend) => {
  const applyAs = async (
    ns: string,
    manager: string,
    data: Readonly<Record<string, string>>,
  ): Promise<ApiObject> =>
    await backend.api.must(backend.api.apply(at('configmaps', ns, 'a'), configMap('a', data), by(manager)));

  it('server-side apply creates a missing object and answers 201', async () => {
    const ns = await backend.namespace();
    const first = await backend.api.apply(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }), by('one'));
    expect(first.status).toBe(201);
    expect(first.body.metadata.managedFields).toEqual([
      {
        manager: 'one',
        operation: 'Apply',
        apiVersion: 'v1',
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:b': {} } },
      },
    ]);
    const again = await backend.api.apply(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }), by('one'));
    expect(again.status).toBe(200);
    expect(again.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  });

  it('server-side apply accepts YAML', async () => {
    const ns = await backend.namespace();
    const { status, body } = await backend.api.send('PATCH', `${at('configmaps', ns, 'a')}?${by('one')}`, {
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {b: "c"}\n',
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect(status).toBe(201);
    expect(body.data).toEqual({ b: 'c' });
  });

  it('server-side apply removes fields that a manager no longer sends, unless another manager owns them', async () => {
    const ns = await backend.namespace();
    await applyAs(ns, 'one', { mine: '1', ours: '2' });
    await applyAs(ns, 'two', { ours: '2', theirs: '3' });
    const after = await applyAs(ns, 'one', {});
    expect(after.data).toEqual({ ours: '2', theirs: '3' });
    expect(ownedBy(after, 'two')).toEqual({ 'f:data': { 'f:ours': {}, 'f:theirs': {} } });
  });

  it('server-side apply keeps fields without an owner', async () => {
    const ns = await backend.namespace();
    await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a', { other: 'x' })));
    expect((await applyAs(ns, 'one', { mine: '1' })).data).toEqual({ other: 'x', mine: '1' });
    expect((await applyAs(ns, 'one', {})).data).toEqual({ other: 'x' });
  });

  describe('conflicts', () => {
    it('conflicts are refused with the fields and their owners', async () => {
      const ns = await backend.namespace();
      await applyAs(ns, 'one', { b: '1', c: '1' });
      const { status, body } = await backend.api.apply(
        at('configmaps', ns, 'a'),
        configMap('a', { b: '2', c: '2' }),
        by('two'),
      );
      expect(status).toBe(409);
      expect(body).toMatchObject({
        reason: 'Conflict',
        message: expect.stringMatching(/conflicts? with "one"/) as string,
      });
      expect(causeFields(body)).toEqual(['.data.b', '.data.c']);
      expect(body.details.causes?.[0]).toMatchObject({
        reason: 'FieldManagerConflict',
        message: 'conflict with "one"',
      });
      expect((await backend.api.get(at('configmaps', ns, 'a'))).body.data).toEqual({ b: '1', c: '1' });
    });

    it('conflicts are overridden by force, and the other manager loses the field', async () => {
      const ns = await backend.namespace();
      await applyAs(ns, 'one', { b: '1', c: '1' });
      const forced = await backend.api.must(
        backend.api.apply(at('configmaps', ns, 'a'), configMap('a', { b: '2' }), `${by('two')}&force=true`),
      );
      expect(forced.data).toEqual({ b: '2', c: '1' });
      expect(ownedBy(forced, 'one')).toEqual({ 'f:data': { 'f:c': {} } });
      expect(ownedBy(forced, 'two')).toEqual({ 'f:data': { 'f:b': {} } });
    });

    it('arise with a manager that updated, too', async () => {
      const ns = await backend.namespace();
      const created = backend.api.create(
        `${at('configmaps', ns)}?${by('writer')}`,
        configMap('a', { b: '1' }),
      );
      await backend.api.must(created);
      const { status, body } = await backend.api.apply(
        at('configmaps', ns, 'a'),
        configMap('a', { b: '2' }),
        by('one'),
      );
      expect(status).toBe(409);
      expect(body.details.causes?.[0]?.message).toMatch(/^conflict with "writer" using v1/);
    });

    it('conflicts do not arise between managers that send the same value', async () => {
      const ns = await backend.namespace();
      await applyAs(ns, 'one', { b: '1' });
      const shared = await applyAs(ns, 'two', { b: '1' });
      expect(ownedBy(shared, 'one')).toEqual({ 'f:data': { 'f:b': {} } });
      expect(ownedBy(shared, 'two')).toEqual({ 'f:data': { 'f:b': {} } });
    });
  });

  describe('managedFields', () => {
    it('name the managers that created and updated fields', async () => {
      const ns = await backend.namespace();
      const place = at('configmaps', ns);
      await backend.api.must(
        backend.api.create(`${place}?${by('writer')}`, configMap('a', { b: '1', c: '1' })),
      );
      const patched = await backend.api.must(
        backend.api.patch(`${place}/a?${by('patcher')}`, 'merge', { data: { b: '2' } }),
      );
      expect(entryOf(patched, 'writer')).toMatchObject({ operation: 'Update', apiVersion: 'v1' });
      expect(ownedBy(patched, 'writer')).toEqual({ 'f:data': { '.': {}, 'f:c': {} } });
      expect(ownedBy(patched, 'patcher')).toEqual({ 'f:data': { 'f:b': {} } });
    });

    it('disappear with their fields', async () => {
      const ns = await backend.namespace();
      const place = at('configmaps', ns);
      await applyAs(ns, 'one', { b: '1', c: '1' });
      const patched = await backend.api.must(
        backend.api.patch(`${place}/a?${by('patcher')}`, 'merge', { data: { b: null } }),
      );
      expect(ownedBy(patched, 'one')).toEqual({ 'f:data': { 'f:c': {} } });
      expect(ownedBy(patched, 'patcher')).toBeUndefined();
    });

    it('managedFields have the name of the client when no manager is given', async () => {
      const ns = await backend.namespace();
      const client = backend.api.with({ 'user-agent': 'thing/1.0 (linux)' });
      const made = await backend.api.must(client.create(at('configmaps', ns), configMap('a', { b: 'c' })));
      expect(made.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['thing']);
    });

    it('managedFields identify items by the keys of lists, and by values in sets', async () => {
      const ns = await backend.namespace();
      const applied = await backend.api.must(
        backend.api.apply(at('serviceaccounts', ns, 'a'), {
          apiVersion: 'v1',
          kind: 'ServiceAccount',
          metadata: { name: 'a', finalizers: ['test.dev/one'], labels: { 'a.test/b': 'c' } },
          secrets: [{ name: 'pull' }],
        }),
      );
      expect(ownedBy(applied, 'contract')).toEqual({
        'f:metadata': {
          'f:finalizers': { 'v:"test.dev/one"': {} },
          'f:labels': { 'f:a.test/b': {} },
        },
        'f:secrets': { 'k:{"name":"pull"}': {} },
      });
    });

    it('managedFields treat a list without keys as one field', async () => {
      const ns = await backend.namespace();
      const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
      const applied = await backend.api.must(
        backend.api.apply(at('roles', ns, 'a'), role('Role', 'a', rules)),
      );
      expect(ownedBy(applied, 'contract')).toEqual({ 'f:rules': {} });
    });

    // https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/service-account-v1/
    it('managedFields treat the pull secrets of a ServiceAccount as one field, which a last manager takes along', async () => {
      const ns = await backend.namespace();
      const path = at('serviceaccounts', ns, 'a');
      const account = (...names: readonly string[]) => ({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'a' },
        ...(names.length === 0 ? {} : { imagePullSecrets: names.map((name) => ({ name })) }),
      });
      const forced = async (manager: string, ...names: readonly string[]): Promise<ApiObject> =>
        await backend.api.must(backend.api.apply(path, account(...names), `${by(manager)}&force=true`));
      await forced('one', 'a');
      const taken = await forced('two', 'a', 'b');
      expect([ownedBy(taken, 'one'), ownedBy(taken, 'two')]).toEqual([
        undefined,
        { 'f:imagePullSecrets': {} },
      ]);
      // Two managers of the same value share it. A patch to another value takes it from both.
      const shared = await forced('three', 'a', 'b');
      expect(ownedBy(shared, 'two')).toEqual({ 'f:imagePullSecrets': {} });
      expect(await forced('two')).toMatchObject({ imagePullSecrets: [{ name: 'a' }, { name: 'b' }] });
      const patch = { imagePullSecrets: [{ name: 'b' }] };
      const patched = await backend.api.must(backend.api.patch(`${path}?${by('user')}`, 'merge', patch));
      expect(ownedBy(patched, 'three')).toBeUndefined();
      await forced('three', 'b', 'c');
      expect(await forced('three')).not.toHaveProperty('imagePullSecrets');
    });

    it('managedFields can be emptied by an update', async () => {
      const ns = await backend.namespace();
      await applyAs(ns, 'one', { b: '1' });
      const patch = { metadata: { managedFields: [{}] } };
      const after = await backend.api.must(backend.api.patch(at('configmaps', ns, 'a'), 'merge', patch));
      expect(after.metadata.managedFields ?? []).toEqual([]);
    });
  });

  describe('lists by key', () => {
    const account = (...names: readonly string[]): object => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'a' },
      secrets: names.map((name) => ({ name })),
    });

    it('lists by key lists by key hold the items of all managers', async () => {
      const ns = await backend.namespace();
      const path = at('serviceaccounts', ns, 'a');
      await backend.api.must(backend.api.apply(path, account('one', 'both'), by('one')));
      const both = await backend.api.must(backend.api.apply(path, account('both', 'two'), by('two')));
      expect(both['secrets']).toEqual([{ name: 'one' }, { name: 'both' }, { name: 'two' }]);
      const less = await backend.api.must(backend.api.apply(path, account('both'), by('one')));
      expect(less['secrets']).toEqual([{ name: 'both' }, { name: 'two' }]);
    });
  });

  it.each([
    ['another name', configMap('b'), 400],
    ['another kind', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, 400],
    ['no apiVersion', { kind: 'ConfigMap', metadata: { name: 'a' } }, 400],
    ['managedFields', configMap('a', {}, { managedFields: [{ manager: 'x' }] }), 400],
    ['a uid of what is not there', configMap('a', {}, { uid: '5b5c3a52-7f0e-4a53-9d0b-000000000000' }), 409],
  ])('server-side apply refuses %s', async (_, body, code) => {
    const ns = await backend.namespace();
    const { status, body: answer } = await backend.api.apply(at('configmaps', ns, 'a'), body);
    expect(status, answer.message).toBe(code);
    expect((await backend.api.get(at('configmaps', ns, 'a'))).status).toBe(404);
  });

  it('server-side apply refuses an unknown field', async () => {
    const ns = await backend.namespace();
    const path = at('configmaps', ns, 'a');
    const query = 'fieldManager=contract&fieldValidation=Strict';
    const { status } = await backend.api.apply(path, { ...configMap('a'), nonsense: 'x' }, query);
    expect(status).toBe(backend.expects(differences.unknownFieldApplied));
    expect((await backend.api.get(path)).status).toBe(404);
  });

  it('server-side apply is authorized as a patch, and a creating apply also as a create of that name', async () => {
    const ns = await backend.namespace();
    const user = freshName('user');
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch', 'get'] }];
    await backend.api.must(backend.api.create(at('roles', ns), role('Role', 'patcher', rules)));
    const bound = binding('RoleBinding', 'patcher', ['Role', 'patcher'], user);
    await backend.api.must(backend.api.create(at('rolebindings', ns), bound));
    await eventually(async () => (await backend.as(user).get(at('configmaps', ns, 'a'))).status).toBe(404);

    const refused = await backend.as(user).apply(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }));
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain(
      `User "${user}" cannot create resource "configmaps" in API group "" in the namespace "${ns}"`,
    );
    await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a')));
    const allowed = await backend.as(user).apply(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }));
    expect(allowed.status).toBe(200);
  });
});
