// Tests the guard with owners of fields: only Reeve owns what it applies; finalizers can be removed but not added.
import { beforeAll, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import type { ApiObject } from './support/answers.ts';
import type { Reply } from './support/api.ts';
import { onEachBackend } from './support/backends.ts';
import { at, configMap } from './support/objects.ts';
import { installPolicies } from './support/shipped-policies.ts';

const marked = {
  labels: { 'app.kubernetes.io/managed-by': 'reeve', 'reeve.dev/namespacepolicy': 'ct' },
  annotations: { 'reeve.dev/owner': 'NamespacePolicy/ct' },
};
const offered = { labels: { 'reeve.dev/adopt': 'true' }, finalizers: ['test.dev/one'] };
const reconciler = 'system:serviceaccount:reeve-system:reeve-reconciler';
onEachBackend('the guard and the owners of fields', (backend) => {
  const tenant = backend.as.bind(backend, 'ann', 'system:masters');

  beforeAll(async () => {
    await installPolicies(backend, '40-guard.yaml');
    const probe = configMap('ct-probe', {}, marked);
    await until(
      async () => (await tenant().create(`${at('configmaps', 'default')}?dryRun=All`, probe)).status === 403,
      () => 'the guard is in force',
    );
  });

  /** Another user creates it with a finalizer, then Reeve applies it: its entry holds both. */
  const adopted = async (): Promise<{ readonly path: string; readonly object: ApiObject }> => {
    const ns = await backend.namespace();
    const path = at('configmaps', ns, 'a');
    await backend.api.must(
      tenant().create(`${at('configmaps', ns)}?fieldManager=maker`, configMap('a', { b: 'c' }, offered)),
    );
    const ours = configMap('a', { b: 'c', d: 'e' }, marked);
    const reeve = backend.as(reconciler, 'system:masters');
    const object = await backend.api.must(reeve.apply(path, ours, 'fieldManager=reeve&force=true'));
    return { path, object };
  };
  const patched = async (path: string, metadata: object, manager = 'maker'): Promise<Reply> =>
    await tenant().patch(`${path}?fieldManager=${manager}`, 'merge', { metadata });

  it('the guard refuses a user who adds, removes or replaces an owner', async () => {
    const { path, object } = await adopted();
    const { managedFields = [] } = object.metadata;
    const renamed = managedFields.map((entry) => ({ ...entry, manager: 'thief' }));
    const same = configMap('a', { b: 'c', d: 'e' }, marked);
    for (const { status, text } of [
      await tenant().apply(path, same, 'fieldManager=thief&force=true'),
      await patched(path, { managedFields: [{}] }),
      await patched(path, { managedFields: renamed }),
      await patched(path, { managedFields: renamed, finalizers: null }),
      await patched(path, { managedFields: managedFields.slice(1) }),
    ]) {
      expect(status, text).toBe(403);
      expect(text).toContain("ValidatingAdmissionPolicy 'reeve-guard'");
    }
    expect((await tenant().get(path)).body.metadata).toEqual(object.metadata);
  });

  it.each(['maker', 'other'])('finalizers may be removed but not added: %s', async (manager) => {
    const { path } = await adopted();
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { finalizers: ['test.dev/three'] } };
    for (const { status, text } of [
      await patched(path, { finalizers: ['test.dev/one', 'test.dev/two'] }, manager),
      await patched(path, { finalizers: ['test.dev/two'] }, manager),
      await tenant().apply(path, applied, `fieldManager=${manager}`),
    ]) {
      expect(status, text).toBe(403);
      expect(text).toContain("ValidatingAdmissionPolicy 'reeve-guard'");
    }
    await backend.api.must(patched(path, { finalizers: null }, manager));
    expect((await tenant().get(path)).body.metadata.finalizers).toBeUndefined();
  });

  it('the guard permits a write that changes nothing', async () => {
    const { path, object } = await adopted();
    expect((await tenant().replace(path, object)).status).toBe(200);
    expect((await patched(path, {})).status).toBe(200);
    await backend.api.must(patched(path, { finalizers: null }));
  });
});
