// Tests the life of a Namespace: its label, its deletion, and writes in a missing one.
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { until } from '../support/until.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap, namespaceNamed, secret } from './support/objects.ts';

onEachBackend('namespaces', (backend) => {
  const isGone = async (name: string): Promise<boolean> =>
    (await backend.api.get(at('namespaces', '', name))).status === 404;

  it('namespaces are active and have a label with their name', async () => {
    const name = freshName('ns');
    const { status, body } = await backend.api.create(at('namespaces', ''), namespaceNamed(name));
    expect(status).toBe(201);
    expect(body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    await backend.api.delete(at('namespaces', '', name));
  });

  it('namespaces keep the label with their name whatever a write contains', async () => {
    const name = await backend.namespace();
    const label = 'kubernetes.io/metadata.name';
    const wrong = { metadata: { labels: { [label]: 'other', more: 'yes' } } };
    const patched = await backend.api.must(backend.api.patch(at('namespaces', '', name), 'merge', wrong));
    expect(patched.metadata.labels).toEqual({ [label]: name, more: 'yes' });
    const replaced = await backend.api.must(
      backend.api.replace(at('namespaces', '', name), namespaceNamed(name)),
    );
    expect(replaced.metadata.labels).toEqual({ [label]: name });
  });

  it.each(['default', 'kube-system', 'kube-public', 'kube-node-lease'])(
    '%s is there from the start',
    async (name) => {
      const { status } = await backend.api.get(at('namespaces', '', name));
      expect(status).toBe(200);
    },
  );

  it.each(['default', 'kube-system'])('%s cannot be deleted', async (name) => {
    const { status, body } = await backend.api.delete(at('namespaces', '', name));
    expect(status).toBe(403);
    expect(body.message).toBe(`namespaces "${name}" is forbidden: this namespace may not be deleted`);
  });

  it.each(['a.b', 'A', 'a'.repeat(64), '-a'])('namespaces cannot be called %s', async (name) => {
    const { status, body } = await backend.api.create(at('namespaces', ''), namespaceNamed(name));
    expect(status).toBe(422);
    expect(body.details.causes?.map(({ field }) => field)).toContain('metadata.name');
  });

  it('namespaces keep their phase and their finalizers in a write', async () => {
    const name = await backend.namespace();
    const { body } = await backend.api.get(at('namespaces', '', name));
    const changed = { ...body, spec: { finalizers: ['test.dev/a'] }, status: { phase: 'Terminating' } };
    const after = await backend.api.must(backend.api.replace(at('namespaces', '', name), changed));
    expect(after).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
  });

  it('namespaces keep their conditions in a subresource', async () => {
    const name = await backend.namespace();
    const condition = {
      type: 'test.dev/Ready',
      status: 'True',
      reason: 'Good',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const patch = { metadata: { labels: { ignored: 'yes' } }, status: { conditions: [condition] } };
    const path = at('namespaces', '', name);
    const { status, body } = await backend.api.patch(`${path}/status`, 'merge', patch);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: { phase: 'Active', conditions: [{ type: 'test.dev/Ready' }] } });
    const applied = await backend.api.apply(`${path}/status`, {
      ...namespaceNamed(name),
      status: { conditions: [{ ...condition, type: 'test.dev/Other' }] },
    });
    expect(applied.status).toBe(200);
    const types = (applied.body.status as { conditions: { type: string }[] }).conditions.map(
      ({ type }) => type,
    );
    expect(types.sort()).toEqual(['test.dev/Other', 'test.dev/Ready']);
  });

  it('namespaces get the service account default', async () => {
    const name = await backend.namespace();
    await eventually(async () => (await backend.api.get(at('serviceaccounts', name, 'default'))).status).toBe(
      200,
    );
  });

  it('namespaces are required for namespaced objects', async () => {
    const { status, body } = await backend.api.create(at('configmaps', 'ct-nowhere'), configMap('a'));
    expect(status).toBe(404);
    expect(body).toMatchObject({
      reason: 'NotFound',
      message: 'namespaces "ct-nowhere" not found',
      details: { name: 'ct-nowhere', kind: 'namespaces' },
    });
    const applied = await backend.api.apply(at('configmaps', 'ct-nowhere', 'a'), configMap('a'));
    expect(applied.status).toBe(404);
  });

  // A real controller runs every few seconds.
  describe.concurrent('at their end', () => {
    const ending = async (object: ReturnType<typeof namespaceNamed>, content: object): Promise<void> => {
      const { name } = object.metadata;
      const { api } = backend;
      await api.must(api.create(at('namespaces', ''), object));
      await api.must(api.create(at('configmaps', name), content));
      const deleted = await api.must(api.delete(at('namespaces', '', name)));
      expect(deleted).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
      expect(deleted.metadata.deletionTimestamp).toMatch(/Z$/);
    };
    const end = async (name: string): Promise<void> => {
      await until(
        () => isGone(name),
        async () => `the end of ${(await backend.api.get(at('namespaces', '', name))).text}`,
      );
    };

    it('a deleted namespace is marked, emptied and then removed', async () => {
      const name = freshName('ns');
      await ending(namespaceNamed(name), configMap('a'));
      await end(name);
      const left = await backend.api.must(backend.api.get(at('configmaps', name)));
      expect(left.items).toEqual([]);
    });

    it('deleted namespaces stay until the last finalizer of their contents is removed, and accept no new objects', async () => {
      const name = freshName('ns');
      await ending(namespaceNamed(name), configMap('kept', {}, { finalizers: ['test.dev/one'] }));
      const kept = at('configmaps', name, 'kept');
      await until(
        async () => (await backend.api.get(kept)).body.metadata.deletionTimestamp !== undefined,
        () => 'the contents are deleted',
      );
      const { status, body } = await backend.api.create(at('secrets', name), secret('late'));
      expect(status).toBe(403);
      expect(body).toMatchObject({
        reason: 'Forbidden',
        message: `secrets "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
        details: {
          name: 'late',
          kind: 'secrets',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: `namespace ${name} is being terminated`,
              field: 'metadata.namespace',
            },
          ],
        },
      });
      expect((await backend.api.delete(at('namespaces', '', name))).status).toBe(200);
      expect(await isGone(name)).toBe(false);
      await backend.api.must(backend.api.patch(kept, 'merge', { metadata: { finalizers: null } }));
      expect((await backend.api.get(kept)).status).toBe(404);
    });

    it('deleted namespaces wait for other finalizers in their spec', async () => {
      const name = freshName('ns');
      const path = at('namespaces', '', name);
      const spec = { finalizers: ['kubernetes', 'test.dev/keep'] };
      await backend.api.must(backend.api.create(at('namespaces', ''), { ...namespaceNamed(name), spec }));
      await backend.api.must(backend.api.delete(path));
      await eventually(async () => (await backend.api.get(path)).body['spec']).toEqual({
        finalizers: ['test.dev/keep'],
      });
      const { body } = await backend.api.get(path);
      await backend.api.replace(`${path}/finalize`, { ...body, spec: {} });
      await end(name);
    });

    it('deleted namespaces wait for finalizers in their metadata', async () => {
      const name = freshName('ns');
      await ending(namespaceNamed(name, { finalizers: ['test.dev/one'] }), configMap('a'));
      const path = at('namespaces', '', name);
      const specOf = async (): Promise<string> => JSON.stringify((await backend.api.get(path)).body['spec']);
      await until(
        async () => (await specOf()) === '{}',
        async () => `the namespace is emptied: ${await specOf()}`,
      );
      expect((await backend.api.get(at('configmaps', name, 'a'))).status).toBe(404);
      await backend.api.must(backend.api.patch(path, 'merge', { metadata: { finalizers: [] } }));
      await end(name);
    });
  });

  it('namespaces are finalized by a subresource', async () => {
    const name = await backend.namespace();
    const path = at('namespaces', '', name);
    const { body } = await backend.api.get(path);
    const more = { ...body, spec: { finalizers: ['kubernetes', 'test.dev/a'] } };
    const added = await backend.api.must(backend.api.replace(`${path}/finalize`, more));
    expect(added).toMatchObject({ spec: { finalizers: ['kubernetes', 'test.dev/a'] } });
    const less = { ...added, spec: { finalizers: ['kubernetes'] } };
    const removed = await backend.api.must(backend.api.replace(`${path}/finalize`, less));
    expect(removed).toMatchObject({ spec: { finalizers: ['kubernetes'] } });
  });

  it('namespaces cannot be deleted as a collection', async () => {
    const { status } = await backend.api.delete(`${at('namespaces', '')}?labelSelector=none%3Dnone`);
    expect(status).toBe(405);
  });
});
