// Tests deletion: at once, after the last finalizer, and with preconditions.
import { describe, expect, it } from 'vitest';
import { causeFields, type ApiObject } from './support/answers.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap } from './support/objects.ts';

const finalizer = 'test.dev/one';

onEachBackend('deletion', (backend) => {
  const made = async (
    metadata: object = {},
  ): Promise<{ readonly path: string; readonly object: ApiObject }> => {
    const ns = await backend.namespace();
    const object = await backend.api.must(
      backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' }, metadata)),
    );
    return { path: at('configmaps', ns, 'a'), object };
  };
  const finalizers = async (path: string, ...names: readonly string[]): Promise<ApiObject> => {
    const patch = { metadata: { finalizers: names } };
    return await backend.api.must(backend.api.patch(path, 'merge', patch));
  };
  const isGone = async (path: string): Promise<boolean> => (await backend.api.get(path)).status === 404;

  it('a deletion answers with a Status that names the deleted object', async () => {
    const { path, object } = await made();
    const { status, body } = await backend.api.delete(path);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: object.metadata.uid },
    });
    expect(await isGone(path)).toBe(true);
    expect((await backend.api.delete(path)).status).toBe(404);
  });

  describe('with a finalizer', () => {
    it('an object with a finalizer is only marked, and deleted when its last finalizer is removed', async () => {
      const { path, object } = await made({ finalizers: [finalizer, 'test.dev/two'] });
      const { status, body } = await backend.api.delete(path);
      expect(status).toBe(200);
      expect(body.metadata.deletionTimestamp).toMatch(/Z$/);
      expect(body.metadata['deletionGracePeriodSeconds']).toBe(0);
      expect(body.metadata.uid).toBe(object.metadata.uid);
      expect(body.metadata.resourceVersion).not.toBe(object.metadata.resourceVersion);

      const again = await backend.api.must(backend.api.delete(path));
      expect(again.metadata.deletionTimestamp).toBe(body.metadata.deletionTimestamp);
      expect(again.metadata.resourceVersion).toBe(body.metadata.resourceVersion);

      await finalizers(path, 'test.dev/two');
      expect(await isGone(path)).toBe(false);
      await finalizers(path);
      expect(await isGone(path)).toBe(true);
    });

    it('an object that is being deleted permits other changes', async () => {
      const { path } = await made({ finalizers: [finalizer] });
      await backend.api.must(backend.api.delete(path));
      const after = await backend.api.must(backend.api.patch(path, 'merge', { data: { b: 'd' } }));
      expect(after.data).toEqual({ b: 'd' });
      expect(after.metadata.deletionTimestamp).toMatch(/Z$/);
      await finalizers(path);
    });

    it('an object that is being deleted permits no new finalizers', async () => {
      const { path } = await made({ finalizers: [finalizer] });
      await backend.api.must(backend.api.delete(path));
      const patch = { metadata: { finalizers: [finalizer, 'test.dev/late'] } };
      const { status, body } = await backend.api.patch(path, 'merge', patch);
      expect(status).toBe(422);
      expect(new Set(causeFields(body))).toEqual(new Set(['metadata.finalizers']));
      expect(body.message).toContain('no new finalizers can be added if the object is being deleted');
      await finalizers(path);
    });

    it('a deletion that waits for a finalizer cannot be undone', async () => {
      const { path } = await made({ finalizers: [finalizer] });
      const { metadata } = await backend.api.must(backend.api.delete(path));
      const patch = { metadata: { deletionTimestamp: null } };
      const after = await backend.api.must(backend.api.patch(path, 'merge', patch));
      expect(after.metadata.deletionTimestamp).toBe(metadata.deletionTimestamp);
      await finalizers(path);
    });

    it('an object that is being deleted keeps its name taken', async () => {
      const { path } = await made({ finalizers: [finalizer] });
      await backend.api.must(backend.api.delete(path));
      const { status, body } = await backend.api.create(path.slice(0, -2), configMap('a'));
      expect(status).toBe(409);
      expect(body.reason).toBe('AlreadyExists');
      expect(body.message).toMatch(/^object is being deleted: configmaps "a" already exists$/);
      await finalizers(path);
    });

    it('a watch gets one event for the mark and one for the deletion', async () => {
      const { path, object } = await made({ finalizers: [finalizer] });
      await using watch = await backend.api.watch(
        path.slice(0, -2),
        `fieldSelector=metadata.name%3Da&resourceVersion=${object.metadata.resourceVersion}`,
      );
      await backend.api.must(backend.api.delete(path));
      await finalizers(path);
      expect(await watch.take(2)).toEqual(['MODIFIED a', 'DELETED a']);
    });
  });

  describe('with preconditions', () => {
    it.each(['uid', 'resourceVersion'] as const)('another %s refuses the deletion', async (field) => {
      const { path } = await made();
      const wrong = field === 'uid' ? '5b5c3a52-7f0e-4a53-9d0b-000000000000' : '1';
      const { status, body } = await backend.api.delete(path, { preconditions: { [field]: wrong } });
      expect({ status, reason: body.reason }).toEqual({ status: 409, reason: 'Conflict' });
      expect(body.message).toMatch(/[Pp]recondition/);
      expect(await isGone(path)).toBe(false);
    });

    it('a deletion with preconditions succeeds when they match', async () => {
      const { path, object } = await made();
      const { uid, resourceVersion } = object.metadata;
      const { status } = await backend.api.delete(path, { preconditions: { uid, resourceVersion } });
      expect(status).toBe(200);
      expect(await isGone(path)).toBe(true);
    });
  });

  it.each(['Background', 'Foreground', 'Orphan'])('a deletion may have the policy %s', async (policy) => {
    const { path } = await made();
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: policy };
    const { status } = await backend.api.delete(path, options);
    expect(status).toBe(200);
    await expect.poll(() => isGone(path), { timeout: 30_000 }).toBe(true);
  });

  it.each([
    ['a propagation policy that is none', { propagationPolicy: 'Sideways' }, 422],
    ['a dry run of another kind', { dryRun: ['Some'] }, 422],
  ])('a deletion refuses %s', async (_, options, code) => {
    const { path } = await made();
    expect((await backend.api.delete(path, options)).status).toBe(code);
    expect(await isGone(path)).toBe(false);
  });

  describe('of a collection', () => {
    it('the deletion of a collection deletes the selected objects and keeps the others', async () => {
      const ns = await backend.namespace();
      const path = at('configmaps', ns);
      for (const [name, color] of [
        ['a', 'red'],
        ['b', 'red'],
        ['c', 'blue'],
      ] as const) {
        await backend.api.must(backend.api.create(path, configMap(name, {}, { labels: { color } })));
      }
      const { status, body } = await backend.api.delete(`${path}?labelSelector=color%3Dred`);
      expect(status).toBe(200);
      expect(body.kind).toBe('ConfigMapList');
      expect(body.items.map(({ metadata }) => metadata.name).sort()).toEqual(['a', 'b']);
      const left = await backend.api.must(backend.api.get(`${path}?labelSelector=color`));
      expect(left.items.map(({ metadata }) => metadata.name)).toEqual(['c']);
      await backend.api.must(backend.api.delete(`${path}?fieldSelector=metadata.name%3Dc`));
      expect(await isGone(`${path}/c`)).toBe(true);
    });

    it('the deletion of a collection marks objects with finalizers', async () => {
      const { path } = await made({ finalizers: [finalizer] });
      await backend.api.must(backend.api.delete(path.slice(0, -2)));
      const { body } = await backend.api.get(path);
      expect(body.metadata.deletionTimestamp).toMatch(/Z$/);
      await finalizers(path);
    });
  });

  describe('of owners', () => {
    const dependent = (owner: ApiObject, more: object = {}): object => {
      const { name, uid } = owner.metadata;
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }];
      return configMap('dependent', {}, { ownerReferences });
    };

    it('the deletion of owners deletes objects whose only owners they are', async () => {
      const { path, object } = await made();
      const collection = path.slice(0, -2);
      await backend.api.must(backend.api.create(collection, dependent(object)));
      await backend.api.must(backend.api.delete(path, { propagationPolicy: 'Background' }));
      await expect.poll(() => isGone(`${collection}/dependent`), { timeout: 30_000 }).toBe(true);
    });

    it('an ownerReference must be complete', async () => {
      const { path, object } = await made();
      const { status, body } = await backend.api.create(path.slice(0, -2), dependent(object, { uid: '' }));
      expect(status).toBe(422);
      expect(body.details.causes?.[0]?.field).toBe('metadata.ownerReferences.uid');
    });
  });
});
