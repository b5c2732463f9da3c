// Tests @kubernetes/client-node: lists, an informer, writes and refusals.
import {
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  type V1ConfigMap,
} from '@kubernetes/client-node';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap, share } from './support/objects.ts';

onEachBackend('@kubernetes/client-node', (backend) => {
  const config = new KubeConfig();
  let ns = '';
  beforeAll(async () => {
    config.loadFromFile(backend.kubeconfig);
    await backend.installKinds();
    ns = await backend.namespace();
  });

  it('@kubernetes/client-node creates, reads, replaces, lists and deletes', async () => {
    const core = config.makeApiClient(CoreV1Api);
    const body = { metadata: { name: 'typed', labels: { made: 'here' } }, data: { a: 'b' } };
    const made = await core.createNamespacedConfigMap({ namespace: ns, body });
    expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);
    const read = await core.readNamespacedConfigMap({ namespace: ns, name: 'typed' });
    expect(read.data).toEqual({ a: 'b' });
    const replaced = await core.replaceNamespacedConfigMap({
      namespace: ns,
      name: 'typed',
      body: Object.assign(read, { data: { a: 'c' } }),
    });
    expect(replaced.data).toEqual({ a: 'c' });
    const list = await core.listNamespacedConfigMap({ namespace: ns, labelSelector: 'made=here' });
    expect(list.items.map(({ metadata }) => metadata?.name)).toEqual(['typed']);
    const status = await core.deleteNamespacedConfigMap({ namespace: ns, name: 'typed' });
    expect(status.status).toBe('Success');
  });

  it('@kubernetes/client-node reports refusals with their codes', async () => {
    const core = config.makeApiClient(CoreV1Api);
    const codeOf = async (call: Promise<unknown>): Promise<unknown> => {
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      return error instanceof ApiException ? error.code : error;
    };
    const body = { metadata: { name: 'once' } };
    await core.createNamespacedSecret({ namespace: ns, body });
    expect(await codeOf(core.createNamespacedSecret({ namespace: ns, body }))).toBe(409);
    expect(await codeOf(core.readNamespacedSecret({ namespace: ns, name: 'none' }))).toBe(404);
    const bad = { metadata: { name: 'No_Name' } };
    expect(await codeOf(core.createNamespacedSecret({ namespace: ns, body: bad }))).toBe(422);
  });

  it('@kubernetes/client-node patches and applies', async () => {
    const core = config.makeApiClient(CoreV1Api);
    await core.createNamespacedConfigMap({
      namespace: ns,
      body: { metadata: { name: 'patched' }, data: { a: 'b' } },
    });
    const target = { namespace: ns, name: 'patched' };
    const merged = await core.patchNamespacedConfigMap(
      { ...target, body: { data: { c: 'd' } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    expect(merged.data).toEqual({ a: 'b', c: 'd' });
    const applied = await core.patchNamespacedConfigMap(
      { ...target, body: configMap('patched', { e: 'f' }), fieldManager: 'contract', force: true },
      setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
    );
    expect(applied.data).toEqual({ a: 'b', c: 'd', e: 'f' });
  });

  it('@kubernetes/client-node handles objects of any kind by discovery', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const name = freshName('share');
    const made = await objects.create(share(name));
    expect(made.metadata.generation).toBe(1);
    const read = await objects.read({
      apiVersion: 'reeve.dev/v1alpha1',
      kind: 'SecretShare',
      metadata: { name },
    });
    expect(read.metadata?.uid).toBe(made.metadata.uid);
    const custom = config.makeApiClient(CustomObjectsApi);
    const kind = { group: 'reeve.dev', version: 'v1alpha1', plural: 'secretshares' };
    const list = (await custom.listClusterCustomObject({
      ...kind,
      fieldSelector: `metadata.name=${name}`,
    })) as {
      readonly items: readonly object[];
    };
    expect(list.items).toHaveLength(1);
    await objects.delete(made);
  });

  it('@kubernetes/client-node receives every change through an informer', async () => {
    const core = config.makeApiClient(CoreV1Api);
    const path = at('configmaps', ns);
    const selector = 'informed=yes';
    const labels = { labels: { informed: 'yes' } };
    await backend.api.must(backend.api.create(path, configMap('informed-before', {}, labels)));
    const informer = makeInformer<V1ConfigMap>(
      config,
      path,
      () => core.listNamespacedConfigMap({ namespace: ns, labelSelector: selector }),
      selector,
    );
    const seen: string[] = [];
    for (const event of ['add', 'update', 'delete'] as const) {
      informer.on(event, ({ metadata }) => seen.push(`${event} ${metadata?.name}`));
    }
    informer.on('error', (error: unknown) => seen.push(String(error)));
    await informer.start();
    try {
      await backend.api.must(backend.api.create(path, configMap('informed', {}, labels)));
      await eventually(() => seen).toContain('add informed');
      await backend.api.must(
        backend.api.replace(`${path}/informed`, configMap('informed', { a: 'b' }, labels)),
      );
      await backend.api.must(backend.api.delete(`${path}/informed-before`));
      await eventually(() => seen).toEqual([
        'add informed-before',
        'add informed',
        'update informed',
        'delete informed-before',
      ]);
    } finally {
      await informer.stop();
    }
  });

  it('watches from a version', async () => {
    const path = at('secrets', ns);
    const made = await backend.api.must(backend.api.create(path, { metadata: { name: 'watched' } }));
    await backend.api.must(backend.api.delete(`${path}/watched`));
    const seen: string[] = [];
    const query = { resourceVersion: made.metadata.resourceVersion, fieldSelector: 'metadata.name=watched' };
    const controller = await new Watch(config).watch(
      path,
      query,
      (type) => seen.push(type),
      () => undefined,
    );
    try {
      await eventually(() => seen).toEqual(['DELETED']);
    } finally {
      controller.abort();
    }
  });
});
