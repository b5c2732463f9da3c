// Tests watches: every change once and in order, for selectors, from any version that is kept.
import { describe, expect, it } from 'vitest';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap, namespaceNamed, share } from './support/objects.ts';

const labelled = (name: string, color: string): object => configMap(name, {}, { labels: { color } });

onEachBackend('watch', (backend) => {
  it('a watch reports created, changed and deleted objects', async () => {
    const ns = await backend.namespace();
    const path = at('configmaps', ns);
    const { metadata } = await backend.api.must(backend.api.get(path));
    await using watch = await backend.api.watch(
      path,
      `resourceVersion=${metadata.resourceVersion}&labelSelector=ours`,
    );
    const labels = { labels: { ours: '' } };
    const made = await backend.api.must(backend.api.create(path, configMap('a', {}, labels)));
    const changed = await backend.api.must(
      backend.api.replace(`${path}/a`, configMap('a', { b: 'c' }, labels)),
    );
    await backend.api.must(backend.api.delete(`${path}/a`));
    expect(await watch.next()).toEqual({ type: 'ADDED', object: made });
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: changed });
    const { type, object } = await watch.next();
    expect(type).toBe('DELETED');
    expect(object.metadata.uid).toBe(made.metadata.uid);
    // Needs a version of its own, so that a watch from it does not see the deletion again.
    expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(Number(changed.metadata.resourceVersion));
  });

  it('a watch begins with the present objects when no version is given', async () => {
    const ns = await backend.namespace();
    const path = at('secrets', ns);
    for (const name of ['a', 'b']) await backend.api.must(backend.api.create(path, { metadata: { name } }));
    for (const query of ['', 'resourceVersion=0']) {
      await using watch = await backend.api.watch(path, query);
      expect([...(await watch.take(2))].sort()).toEqual(['ADDED a', 'ADDED b']);
    }
  });

  it('a watch continues after any version that is kept', async () => {
    const ns = await backend.namespace();
    const path = at('secrets', ns);
    const first = await backend.api.must(backend.api.create(path, { metadata: { name: 'a' } }));
    await backend.api.must(backend.api.create(path, { metadata: { name: 'b' } }));
    await backend.api.must(backend.api.delete(`${path}/a`));
    await using watch = await backend.api.watch(path, `resourceVersion=${first.metadata.resourceVersion}`);
    expect(await watch.take(2)).toEqual(['ADDED b', 'DELETED a']);
  });

  it('a watch reports objects that begin or stop to match a labelSelector', async () => {
    const ns = await backend.namespace();
    const path = at('configmaps', ns);
    await using watch = await backend.api.watch(path, 'labelSelector=color%3Dred');
    await backend.api.must(backend.api.create(path, labelled('a', 'blue')));
    await backend.api.must(backend.api.create(path, labelled('b', 'red')));
    await backend.api.must(backend.api.replace(`${path}/a`, labelled('a', 'red')));
    await backend.api.must(backend.api.replace(`${path}/b`, labelled('b', 'blue')));
    await backend.api.must(backend.api.delete(`${path}/b`));
    await backend.api.must(backend.api.delete(`${path}/a`));
    expect(await watch.take(4)).toEqual(['ADDED b', 'ADDED a', 'DELETED b', 'DELETED a']);
  });

  it('a watch follows one object by its name', async () => {
    const ns = await backend.namespace();
    const path = at('secrets', ns);
    await using watch = await backend.api.watch(path, 'fieldSelector=metadata.name%3Db');
    for (const name of ['a', 'b']) await backend.api.must(backend.api.create(path, { metadata: { name } }));
    await backend.api.must(backend.api.delete(`${path}/b`));
    expect(await watch.take(2)).toEqual(['ADDED b', 'DELETED b']);
  });

  it('a watch covers all namespaces, and cluster-scoped kinds', async () => {
    const name = freshName('watched');
    await using namespaces = await backend.api.watch(
      at('namespaces', ''),
      `fieldSelector=metadata.name%3D${name}`,
    );
    await using secrets = await backend.api.watch(
      at('secrets', ''),
      `fieldSelector=metadata.namespace%3D${name}`,
    );
    await backend.api.must(backend.api.create(at('namespaces', ''), namespaceNamed(name)));
    await backend.api.must(backend.api.create(at('secrets', name), { metadata: { name: 'a' } }));
    expect(await namespaces.take(1)).toEqual([`ADDED ${name}`]);
    expect(await secrets.take(1)).toEqual(['ADDED a']);
    await backend.api.delete(at('namespaces', '', name));
    const terminating = await namespaces.find(({ type }) => type === 'MODIFIED');
    expect(terminating.object.metadata.deletionTimestamp).toMatch(/Z$/);
  });

  it('a watch follows custom kinds', async () => {
    await backend.installKinds();
    const name = freshName('share');
    await using watch = await backend.api.watch(
      at('secretshares', ''),
      `fieldSelector=metadata.name%3D${name}`,
    );
    await backend.api.must(backend.api.create(at('secretshares', ''), share(name)));
    const patch = { spec: { suspend: true } };
    await backend.api.must(backend.api.patch(at('secretshares', '', name), 'merge', patch));
    await backend.api.must(backend.api.delete(at('secretshares', '', name)));
    expect(await watch.take(3)).toEqual([`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`]);
  });

  it('a watch reports neither dry runs nor writes without changes', async () => {
    const ns = await backend.namespace();
    const path = at('secrets', ns);
    await using watch = await backend.api.watch(path);
    await backend.api.must(backend.api.create(`${path}?dryRun=All`, { metadata: { name: 'a' } }));
    await backend.api.must(backend.api.create(path, { metadata: { name: 'b', labels: { c: 'd' } } }));
    const patch = { metadata: { labels: { c: 'd' } } };
    await backend.api.must(backend.api.patch(`${path}/b`, 'merge', patch));
    await backend.api.must(backend.api.delete(`${path}/b`));
    expect(await watch.take(2)).toEqual(['ADDED b', 'DELETED b']);
  });

  describe('bookmarks', () => {
    /** https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists */
    it('bookmarks end the initial events of a streamed list', async () => {
      const ns = await backend.namespace();
      const path = at('secrets', ns);
      await backend.api.must(backend.api.create(path, { metadata: { name: 'a' } }));
      const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
      await using watch = await backend.api.watch(path, query);
      expect(await watch.take(1)).toEqual(['ADDED a']);
      const { type, object } = await watch.next();
      expect(type).toBe('BOOKMARK');
      expect(object).toMatchObject({ kind: 'Secret', apiVersion: 'v1' });
      expect(object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
      expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(0);
      await backend.api.must(backend.api.create(path, { metadata: { name: 'b' } }));
      expect(await watch.take(1)).toEqual(['ADDED b']);
    });

    it('bookmarks are required for a streamed list', async () => {
      const path = at('secrets', 'default');
      const { status } = await backend.api.get(`${path}?watch=true&sendInitialEvents=true`);
      expect(status).toBe(422);
    });
  });

  describe('with an invalid request', () => {
    it('a version that is no longer kept ends it with 410', async () => {
      await backend.installKinds();
      // The real API server keeps no history of a custom kind from before its definition.
      expect(await backend.api.watchRefusal(at('secretshares', ''), 'resourceVersion=1')).toBe(410);
    });

    it('an invalid version is refused', async () => {
      const code = await backend.api.watchRefusal(at('configmaps', 'default'), 'resourceVersion=now');
      expect(code).toBeGreaterThanOrEqual(400);
    });

    it('an invalid selector is refused', async () => {
      const query = `labelSelector=${encodeURIComponent('a b c')}`;
      expect(await backend.api.watchRefusal(at('configmaps', 'default'), query)).toBe(400);
    });
  });

  it('a watch ends after its timeout', async () => {
    await using watch = await backend.api.watch(at('leases', 'kube-public'), 'timeoutSeconds=1');
    await expect(watch.next()).rejects.toThrow('the watch has ended');
  });

  it('a watch is refused to a user without the right', async () => {
    const { status } = await backend.as(freshName('nobody')).get(`${at('secrets', 'default')}?watch=true`);
    expect(status).toBe(403);
  });
});
