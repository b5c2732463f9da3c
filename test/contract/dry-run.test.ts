// Tests dry runs: the answer is that of the write, and nothing is stored.
import { expect, it } from 'vitest';
import type { Api, Reply } from './support/api.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap } from './support/objects.ts';

interface DryRun {
  readonly verb: string;
  readonly send: (api: Api, collection: string) => Promise<Reply>;
  readonly code: number;
  readonly data?: object;
}

const all = 'dryRun=All';

const runs: readonly DryRun[] = [
  {
    verb: 'create',
    send: (api, path) => api.create(`${path}?${all}`, configMap('b', { new: 'yes' })),
    code: 201,
    data: { new: 'yes' },
  },
  {
    verb: 'create with a generated name',
    send: (api, path) => api.create(`${path}?${all}`, { metadata: { generateName: 'b-' } }),
    code: 201,
  },
  {
    verb: 'create of what is there',
    send: (api, path) => api.create(`${path}?${all}`, configMap('a')),
    code: 409,
  },
  {
    verb: 'update',
    send: (api, path) => api.replace(`${path}/a?${all}`, configMap('a', { new: 'yes' })),
    code: 200,
    data: { new: 'yes' },
  },
  {
    verb: 'merge patch',
    send: (api, path) => api.patch(`${path}/a?${all}`, 'merge', { data: { new: 'yes' } }),
    code: 200,
    data: { old: 'yes', new: 'yes' },
  },
  {
    verb: 'JSON patch',
    send: (api, path) => api.patch(`${path}/a?${all}`, 'json', [{ op: 'remove', path: '/data' }]),
    code: 200,
  },
  {
    verb: 'apply',
    send: (api, path) => api.apply(`${path}/a`, configMap('a', { new: 'yes' }), `fieldManager=me&${all}`),
    code: 200,
    data: { old: 'yes', new: 'yes' },
  },
  {
    verb: 'apply that creates',
    send: (api, path) => api.apply(`${path}/b`, configMap('b', { new: 'yes' }), `fieldManager=me&${all}`),
    code: 201,
    data: { new: 'yes' },
  },
  { verb: 'delete', send: (api, path) => api.delete(`${path}/a?${all}`), code: 200 },
  {
    verb: 'delete, asked in the body',
    send: (api, path) => api.delete(`${path}/a`, { dryRun: ['All'] }),
    code: 200,
  },
  {
    verb: 'deletecollection',
    send: (api, path) => api.delete(`${path}?labelSelector=ours&${all}`),
    code: 200,
  },
];

onEachBackend('dry runs', (backend) => {
  it.each(runs)('a dry run of a $verb changes nothing', async ({ send, code, data }) => {
    const ns = await backend.namespace();
    const collection = at('configmaps', ns);
    const metadata = { labels: { ours: '' } };
    const made = await backend.api.must(
      backend.api.create(collection, configMap('a', { old: 'yes' }, metadata)),
    );
    const { status, body } = await send(backend.api, collection);
    expect(status, body.message).toBe(code);
    if (data !== undefined) expect(body.data).toEqual(data);
    expect((await backend.api.get(`${collection}/a`)).body).toEqual(made);
    expect((await backend.api.get(`${collection}/b`)).status).toBe(404);
  });

  it('a dry run has a uid of its own each time, and no version', async () => {
    const ns = await backend.namespace();
    const path = `${at('configmaps', ns)}?${all}`;
    const first = await backend.api.must(backend.api.create(path, configMap('a')));
    const second = await backend.api.must(backend.api.create(path, configMap('a')));
    expect(first.metadata.uid).not.toBe(second.metadata.uid);
    expect(first.metadata).not.toHaveProperty('resourceVersion');
  });

  it('a dry run of a namespace creates none', async () => {
    const { status } = await backend.api.create(`${at('namespaces', '')}?${all}`, {
      metadata: { name: 'ct-dry' },
    });
    expect(status).toBe(201);
    expect((await backend.api.get(at('namespaces', '', 'ct-dry'))).status).toBe(404);
    const ns = await backend.namespace();
    const { body } = await backend.api.delete(`${at('namespaces', '', ns)}?${all}`);
    expect(body.metadata.name).toBe(ns);
    const after = await backend.api.get(at('namespaces', '', ns));
    expect(after.body).toMatchObject({ status: { phase: 'Active' } });
    expect(after.body.metadata.deletionTimestamp).toBeUndefined();
  });
});
