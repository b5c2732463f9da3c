import { afterEach, describe, expect, test } from 'vitest';
import { Harness } from '../../support/reconcile-harness.ts';

const harnesses: Harness[] = [];
function harness(...options: ConstructorParameters<typeof Harness>): Harness {
  const made = new Harness(...options);
  harnesses.push(made);
  return made;
}
afterEach(async () => {
  for (const each of harnesses.splice(0)) {
    await each.stop();
    expect(each.told.faults).toEqual([]);
  }
});

const binding = {
  name: 'ad-kubernetes-${namespaceObject.metadata.name}',
  roleRef: { kind: 'ClusterRole', name: 'edit' },
  subjects: [{ kind: 'Group', name: 'ad-kubernetes-${namespaceObject.metadata.name}' }],
};
const team = { namespaceSelector: { matchLabels: { tier: 'team' } } };

describe('the reconciler', () => {
  test('makes what a policy provides, in old and in new namespaces', async () => {
    const h = harness();
    h.namespace('a', { tier: 'team' });
    h.namespace('other');
    h.policy('p', { match: team, contents: { roleBindings: [binding] } });
    h.start();
    await h.settle();
    expect(h.get('RoleBinding', 'ad-kubernetes-a', 'a')).toMatchObject({
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'reeve' } },
      roleRef: { kind: 'ClusterRole', name: 'edit' },
    });
    h.namespace('b', { tier: 'team' });
    await h.settle();
    expect(h.get('RoleBinding', 'ad-kubernetes-b', 'b')).toBeDefined();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      matched: 2,
      desired: 2,
      synced: 2,
      conflicts: 0,
      failed: 0,
    });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True', reason: 'Synced' });
    expect(h.condition('Namespace', 'b', 'reeve.dev/Ready')).toMatchObject({
      status: 'True',
      reason: 'Synced',
    });
    expect(h.condition('Namespace', 'other', 'reeve.dev/Ready')).toMatchObject({ reason: 'NothingProvided' });
    h.takeWrites();
    await h.stop();
    h.start();
    await h.settle();
    expect(h.takeWrites()).toEqual([]);
  });

  test('shares a Secret', async () => {
    const h = harness();
    h.namespace('reeve-shared');
    h.secret('reeve-shared', 'regcred', { a: 'canary' });
    for (const name of ['a', 'b', 'c']) h.namespace(name, { pull: 'true' });
    h.share('regcred', {
      source: { namespace: 'reeve-shared', name: 'regcred' },
      targets: { namespaceSelector: { matchLabels: { pull: 'true' } } },
    });
    h.start();
    await h.settle();
    expect(h.memory.list('Secret')).toHaveLength(4);
    expect(h.get('Secret', 'regcred', 'b')).toMatchObject({ data: { a: btoa('canary') } });
    expect(h.status('SecretShare', 'regcred')).toMatchObject({ desired: 3, synced: 3 });
    h.takeWrites();
    await h.stop();
    h.start();
    await h.settle();
    expect(h.takeWrites()).toEqual([]);
    h.secret(
      'b',
      'regcred',
      { a: 'canary', x: 'tampered' },
      { metadata: h.get('Secret', 'regcred', 'b')?.metadata },
    );
    await h.settle();
    expect(h.get('Secret', 'regcred', 'b')).toMatchObject({ data: { a: btoa('canary') } });
    expect(Object.keys(h.get('Secret', 'regcred', 'b')?.['data'] as object)).toEqual(['a']);
    h.memory.delete({ apiVersion: 'reeve.dev/v1alpha1', kind: 'SecretShare', name: 'regcred' });
    await h.settle();
    expect(h.memory.list('Secret')).toHaveLength(1);
    expect(h.get('SecretShare', 'regcred')).toBeUndefined();
  });
});
