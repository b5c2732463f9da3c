// Tests creating, reading and replacing objects, with refusals for outdated and invalid requests.
import { describe, expect, it } from 'vitest';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { at, configMap, namespaceNamed } from './support/objects.ts';

const uidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

onEachBackend('objects', (backend) => {
  describe('create', () => {
    it('a create answers 201 with the fields that the server sets', async () => {
      const ns = await backend.namespace();
      const { status, body } = await backend.api.create(
        at('configmaps', ns),
        configMap('a', { key: 'value' }),
      );
      expect(status).toBe(201);
      expect(body).toMatchObject({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: ns },
        data: { key: 'value' },
      });
      expect(body.metadata.uid).toMatch(uidPattern);
      expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(0);
      expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(body.metadata.generation).toBeUndefined();
    });

    it("a create ignores a client's values for fields that the server sets", async () => {
      const ns = await backend.namespace();
      const metadata = {
        uid: 'mine',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        generation: 7,
        selfLink: '/mine',
      };
      const made = await backend.api.must(
        backend.api.create(at('configmaps', ns), configMap('a', {}, metadata)),
      );
      expect(made.metadata.uid).toMatch(uidPattern);
      expect(made.metadata.creationTimestamp).not.toMatch(/^2001/);
      expect(made.metadata).not.toHaveProperty('deletionTimestamp');
    });

    it('a create completes a generateName', async () => {
      const ns = await backend.namespace();
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'some-' } };
      const first = await backend.api.must(backend.api.create(at('configmaps', ns), object));
      const second = await backend.api.must(backend.api.create(at('configmaps', ns), object));
      expect(first.metadata.name).toMatch(/^some-[a-z0-9]{5}$/);
      expect(first.metadata['generateName']).toBe('some-');
      expect(second.metadata.name).not.toBe(first.metadata.name);
    });

    it('a create refuses a name that is taken', async () => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a')));
      const { status, body } = await backend.api.create(at('configmaps', ns), configMap('a'));
      expect(status).toBe(409);
      expect(body).toMatchObject({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        message: 'configmaps "a" already exists',
        reason: 'AlreadyExists',
        details: { name: 'a', kind: 'configmaps' },
        code: 409,
      });
    });

    it('a create adds the namespace of the path, and the kind', async () => {
      const ns = await backend.namespace();
      const { status, body } = await backend.api.create(at('configmaps', ns), { metadata: { name: 'a' } });
      expect(status).toBe(201);
      expect(body).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: ns } });
    });

    it.each([
      ['another namespace', { metadata: { name: 'a', namespace: 'other' } }, 400],
      ['another kind', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, 400],
      ['another version', { apiVersion: 'v9', kind: 'ConfigMap', metadata: { name: 'a' } }, 400],
      ['no name', { metadata: {} }, 422],
      ['a name that is none', { metadata: { name: 'No_Name' } }, 422],
      ['a label that is none', { metadata: { name: 'a', labels: { a: 'not a label' } } }, 422],
      ['an annotation key that is none', { metadata: { name: 'a', annotations: { 'a b': 'c' } } }, 422],
      ['a finalizer that is none', { metadata: { name: 'a', finalizers: ['no finalizer'] } }, 422],
    ])('a create refuses %s', async (_, changes, code) => {
      const ns = await backend.namespace();
      const object = { apiVersion: 'v1', kind: 'ConfigMap', ...changes };
      const { status, body } = await backend.api.create(at('configmaps', ns), object);
      expect(body.message).not.toBe('');
      expect({ status, code: body.code }).toEqual({ status: code, code });
      expect((await backend.api.get(at('configmaps', ns, 'a'))).status).toBe(404);
    });

    it('a create refuses a resourceVersion', async () => {
      const ns = await backend.namespace();
      const object = configMap('a', {}, { resourceVersion: '7' });
      const { status } = await backend.api.create(at('configmaps', ns), object);
      expect(status).toBeGreaterThanOrEqual(400);
    });

    it('a create names the problems of the metadata', async () => {
      const ns = await backend.namespace();
      const metadata = { labels: { 'a b': 'c' }, annotations: { '/': 'c' } };
      const { body } = await backend.api.create(at('configmaps', ns), configMap('No', {}, metadata));
      expect(body).toMatchObject({ reason: 'Invalid', details: { name: 'No', kind: 'ConfigMap' } });
      expect((body.details.causes ?? []).map(({ field, reason }) => `${field} ${reason}`).sort()).toEqual(
        expect.arrayContaining([
          'metadata.annotations FieldValueInvalid',
          'metadata.labels FieldValueInvalid',
          'metadata.name FieldValueInvalid',
        ]),
      );
    });
  });

  describe('get', () => {
    it('a get answers with the object', async () => {
      const ns = await backend.namespace();
      const made = await backend.api.must(
        backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' })),
      );
      const { status, body } = await backend.api.get(at('configmaps', ns, 'a'));
      expect(status).toBe(200);
      expect(body).toEqual(made);
    });

    it.each([
      ['configmaps', '', 'configmaps "a" not found'],
      ['rolebindings', 'rbac.authorization.k8s.io', 'rolebindings.rbac.authorization.k8s.io "a" not found'],
    ] as const)('a get names the missing one of the %s', async (plural, group, message) => {
      const { status, body } = await backend.api.get(at(plural, 'default', 'a'));
      expect(status).toBe(404);
      expect(body).toMatchObject({
        kind: 'Status',
        metadata: {},
        reason: 'NotFound',
        message,
        details: { name: 'a', kind: plural, ...(group === '' ? {} : { group }) },
      });
    });
  });

  describe('update', () => {
    it('an update replaces the whole object with a new resourceVersion', async () => {
      const ns = await backend.namespace();
      const made = await backend.api.must(
        backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' }, { labels: { d: 'e' } })),
      );
      const { status, body } = await backend.api.replace(
        at('configmaps', ns, 'a'),
        configMap('a', { f: 'g' }, { resourceVersion: made.metadata.resourceVersion }),
      );
      expect(status).toBe(200);
      expect(body.data).toEqual({ f: 'g' });
      expect(body.metadata.labels).toBeUndefined();
      expect(body.metadata.uid).toBe(made.metadata.uid);
      expect(body.metadata.creationTimestamp).toBe(made.metadata.creationTimestamp);
      expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
    });

    it('an update without a resourceVersion replaces any version', async () => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a')));
      const { status } = await backend.api.replace(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }));
      expect(status).toBe(200);
    });

    it('an update that changes nothing keeps the version', async () => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' })));
      const put = (): Promise<unknown> =>
        backend.api.replace(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }));
      await put();
      const before = (await backend.api.get(at('configmaps', ns, 'a'))).body.metadata.resourceVersion;
      await put();
      const after = (await backend.api.get(at('configmaps', ns, 'a'))).body.metadata.resourceVersion;
      expect(after).toBe(before);
    });

    it('an update is refused when another write came first', async () => {
      const ns = await backend.namespace();
      const made = await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a')));
      const stale = { resourceVersion: made.metadata.resourceVersion };
      await backend.api.must(
        backend.api.replace(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }, stale)),
      );
      const { status, body } = await backend.api.replace(
        at('configmaps', ns, 'a'),
        configMap('a', { d: 'e' }, stale),
      );
      expect(status).toBe(409);
      expect(body).toMatchObject({
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: 'a', kind: 'configmaps' },
      });
    });

    it.each([
      ['of another uid', { uid: '5b5c3a52-7f0e-4a53-9d0b-000000000000' }, 409],
      ['of another name', { name: 'b' }, 400],
      ['of another namespace', { namespace: 'other' }, 400],
    ])('%s is refused', async (_, metadata, code) => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a')));
      const { status } = await backend.api.replace(at('configmaps', ns, 'a'), configMap('a', {}, metadata));
      expect(status).toBe(code);
    });

    it('an update succeeds once when many clients send the same resourceVersion', async () => {
      const ns = await backend.namespace();
      const made = await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a')));
      const { resourceVersion } = made.metadata;
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          backend.api.replace(
            at('configmaps', ns, 'a'),
            configMap('a', { b: String(index) }, { resourceVersion }),
          ),
        ),
      );
      const codes = replies.map(({ status }) => status).sort((a, b) => a - b);
      expect(codes).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    });

    it.each(['configmaps', 'secrets'] as const)('an update of missing %s is refused', async (plural) => {
      const ns = await backend.namespace();
      const object = { metadata: { name: 'a' } };
      const { status, body } = await backend.api.replace(at(plural, ns, 'a'), object);
      expect(status).toBe(404);
      expect(body.reason).toBe('NotFound');
    });

    it.each([
      ['coordination.k8s.io/v1', 'Lease', 'leases'],
      ['rbac.authorization.k8s.io/v1', 'Role', 'roles'],
    ] as const)('an update may create a %s %s', async (apiVersion, kind, plural) => {
      const ns = await backend.namespace();
      const object = { apiVersion, kind, metadata: { name: 'a', namespace: ns } };
      const { status } = await backend.api.replace(at(plural, ns, 'a'), object);
      expect(backend.expects(differences.updateOfNothing)).toContain(status);
    });

    it('an update cannot change an immutable ConfigMap', async () => {
      const ns = await backend.namespace();
      const fixed = { ...configMap('a', { b: 'c' }), immutable: true };
      await backend.api.must(backend.api.create(at('configmaps', ns), fixed));
      const { status } = await backend.api.replace(at('configmaps', ns, 'a'), { ...fixed, data: { b: 'd' } });
      expect(status).toBe(422);
      const loosened = await backend.api.replace(at('configmaps', ns, 'a'), configMap('a', { b: 'c' }));
      expect(loosened.status).toBe(422);
    });
  });

  it('cluster-scoped objects have no namespace', async () => {
    const name = freshName('plain');
    const object = namespaceNamed(name, { namespace: 'a' });
    const { status, body } = await backend.api.create(at('namespaces', ''), object);
    expect(status).toBe(201);
    expect(body.metadata).not.toHaveProperty('namespace');
    await backend.api.delete(at('namespaces', '', name));
  });

  it('an object keeps keys that every JavaScript object inherits', async () => {
    const ns = await backend.namespace();
    const data = { constructor: 'a', toString: 'b', hasOwnProperty: 'c' };
    const { body } = await backend.api.send('POST', at('configmaps', ns), {
      text: `{"metadata":{"name":"a"},"data":{"__proto__":"d",${JSON.stringify(data).slice(1)}}`,
    });
    expect(new Map(Object.entries(body.data ?? {}))).toEqual(
      new Map(Object.entries({ ...data, ['__proto__']: 'd' })),
    );
  });
});
